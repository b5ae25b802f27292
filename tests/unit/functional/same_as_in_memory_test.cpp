// SPDX-License-Identifier: BSL-1.0
// What is refused in memory is refused with the pass, by an error of the same type. tests/functionalization has random
// programs, and what they do to inputs and return.
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
      const AnyTensor made = call_for_one("clone", {x});
      const AnyTensor view = flat(made);
      call("resize_", {made, {9}});
      return Tensors{made, view};
    },
};

TEST_P(SameAsInMemory, programs_are_refused_as_without) {
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
