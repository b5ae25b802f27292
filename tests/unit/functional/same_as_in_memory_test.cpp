// SPDX-License-Identifier: BSL-1.0
// What a program does to its input, returns and is refused: the same with the pass as in memory.
#include "tensors.hpp"

namespace byre::test {
namespace {

class SameAsInMemory : public testing::TestWithParam<FunctionalizeOptions> {
 protected:
  static Program functionalized(Program f) { return functionalize(std::move(f), GetParam()); }
};

/// What the program returns and leaves in its input, or what it throws.
std::string outcome_of(const Program& program) {
  const AnyTensor x = counted({2, 3});
  try {
    const std::string returned = texts_of(program({x}));
    return text_of(x) + returned;
  } catch (const ShapeError&) {
    return "ShapeError";
  } catch (const DTypeError&) {
    return "DTypeError";
  } catch (const StateError&) {
    return "StateError";
  }
}

AnyTensor flat(const AnyTensor& x) {
  return call_for_one("view", {x, {6}});
}
AnyTensor part(const AnyTensor& x, std::int64_t start, std::int64_t end) {
  return call_for_one("slice", {flat(x), 0, start, end});
}

using Step = Tensors (*)(const AnyTensor& x);
const Step steps[] = {
    [](const AnyTensor& x) {
      return call("copy_", {element(x, 0), x});
    },
    [](const AnyTensor& x) {
      return call("copy_", {x, call_for_one("arange", {3})});
    },
    [](const AnyTensor& x) {
      return call("copy_", {part(x, 0, 4), part(x, 1, 5)});
    },
    [](const AnyTensor& x) {
      return call("add_", {part(x, 0, 4), part(x, 1, 5)});
    },
    [](const AnyTensor& x) {
      return call("add_", {element(x, 0), x});
    },
    [](const AnyTensor& x) {
      return call("add_.scalar", {call_for_one("expand", {element(x, 0), {2, 3}}), 1});
    },
    [](const AnyTensor& x) {
      return call("add_", {call_for_one("to", {x, DType::i64}), x});
    },
    [](const AnyTensor& x) {
      return call("resize_", {call_for_one("t", {x}), {2}});
    },
    [](const AnyTensor& x) {
      const AnyTensor seen = part(x, 2, 4);
      call("resize_", {seen, {3}});
      return call("add_.scalar", {seen, 10});
    },
    [](const AnyTensor& x) {
      const AnyTensor made = call_for_one("clone", {x});
      const AnyTensor view = flat(made);
      call("resize_", {made, {9}});
      return Tensors{made, view};
    },
    [](const AnyTensor& x) {
      return call("zero_", {call_for_one("narrow", {flat(x), 0, -2, 2})});
    },
    [](const AnyTensor& x) {
      return call("zero_", {call_for_one("select", {x, -1, -1})});
    },
    [](const AnyTensor& x) { return call("zero_", {part(x, 1, 1)}); },
    [](const AnyTensor& x) {
      const AnyTensor pairs = call_for_one("view", {x, {2, 1, 3}});
      return call("zero_", {call_for_one("expand", {pairs, {2, 0, 3}})});
    },
    [](const AnyTensor& x) {
      const AnyTensor back = call_for_one("view", {flat(x), {2, 3}});
      call("add_.scalar", {back, 1});
      call("add_.scalar", {x, 1});
      return Tensors{back};
    },
    [](const AnyTensor& x) {
      const AnyTensor row = call_for_one("view", {element(x, 1), {1, 3}});
      const AnyTensor repeated = call_for_one("expand", {row, {4, 3}});
      return call("add_.scalar", {element(repeated, 2), 5});
    },
    [](const AnyTensor& x) {
      const AnyTensor bytes = call_for_one("view.dtype", {x, DType::u8});
      call("zero_", {element(bytes, 0)});
      return Tensors{bytes};
    },
    [](const AnyTensor& x) {
      const AnyTensor five = call_for_one("clone", {part(x, 0, 5)});
      const AnyTensor four = call_for_one("slice", {five, 0, 0, 4});
      call("zero_", {element(call_for_one("view.dtype", {four, DType::complex64}), 1)});
      return Tensors{five};
    },
};

TEST_P(SameAsInMemory, programs_do_and_refuse_what_they_do_without) {
  for (const Step& step : steps) {
    const Program program = [step](const Tensors& in) {
      Tensors results = step(in[0]);
      results.push_back(call_for_one("clone", {in[0]}));  // which needs what was written
      return results;
    };
    EXPECT_EQ(outcome_of(functionalized(program)), outcome_of(program)) << &step - steps;
  }
}

TEST_P(SameAsInMemory, programs_are_told_of_the_operation_that_they_called) {
  const auto complaint_of_call = [](const char* name, const AnyTensor& to, Argument from) {
    return complaint_of<ShapeError>([&] {
      functionalized([&](const Tensors&) { return call(name, {to, from}); })({counted(1)});
    });
  };
  const AnyTensor x = to_functional(counted({2, 3}));
  EXPECT_TRUE(says(complaint_of_call("copy_", element(x, 0), x),
                   "copy_: sizes [2, 3] do not broadcast to [3]"));
  EXPECT_TRUE(
      says(complaint_of_call("add_.scalar", call_for_one("expand", {element(x, 0), {2, 3}}), 1),
           "add_.scalar: elements of the tensor that is written share memory"));
}

INSTANTIATE_TEST_SUITE_P(Each, SameAsInMemory, testing::ValuesIn(all_options), name_of_options);

}  // namespace
}  // namespace byre::test
