// SPDX-License-Identifier: BSL-1.0
// Every allocation of programs that write several inputs is made to fail, one after another: all
// inputs are written, or none.
#include "support/failing_new.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

AnyTensor counted_opaque(const Dims& sizes) {
  return to_opaque(to_cpu(counted(sizes)));
}

std::string texts_of_values(const Tensors& tensors) {
  std::string text;
  for (const AnyTensor& tensor : tensors) {
    text += text_of_value(tensor) + "\n";
  }
  return text;
}

/// Answers whether `step` was done, with its allocation number `nth` failing, where it has as many.
bool is_done_without_new(int nth, const std::function<void()>& step) {
  bool is_done = true;
  new_failed = false;
  news_until_failure = nth;
  try {
    step();
  } catch (const OutOfMemory&) {
    is_done = false;
  }
  news_until_failure = never_fails;
  EXPECT_EQ(is_done, !new_failed);
  return is_done;
}

/// Runs `program` on inputs made anew, with each of its allocations failing, until none does.
void expect_all_or_nothing(const Program& program, const std::function<Tensors()>& make_inputs) {
  const Tensors expected = make_inputs();
  program(expected);  // also what is made once, as tables of operators are
  const std::string after = texts_of_values(expected);
  const std::string before = texts_of_values(make_inputs());
  ASSERT_NE(before, after);
  int nth = 0;
  for (bool is_done = false; !is_done; ++nth) {
    ASSERT_LT(nth, 20000);
    const Tensors inputs = make_inputs();
    is_done = is_done_without_new(nth, [&] { program(inputs); });
    ASSERT_EQ(texts_of_values(inputs), is_done ? after : before)
        << "allocation " << nth << " failed";
    ASSERT_TRUE(thread_keys().included.empty() && thread_keys().excluded.empty());
  }
  EXPECT_GT(nth, 10);
}

/// Writes parts of both inputs, and more of the first after it was read.
Tensors write_both(const Tensors& in) {
  call("add_.scalar", {element(in[0], 1), 10});
  call("mul_", {in[1], call_for_one("sum", {in[0]})});
  call("fill_", {call_for_one("select", {in[0], -1, 0}), 7});
  return {};
}

Tensors turn(const Tensors& in) {
  for (const AnyTensor& x : in) {
    const AnyTensor copy = call_for_one("clone", {x});
    call("copy_", {x, call_for_one("permute", {copy, {6, 4, 5, 3, 1, 2, 0, 7, 8}})});
  }
  return {};
}

Tensors change(const Tensors& in) {
  call("transpose_", {in[0], 0, 1});
  call("fill_", {in[0], 5});
  call("resize_", {in[1], {7}});
  call("set_", {in[2], element(in[0], 1)});
  return {in[0]};
}

Tensors add_into(const Tensors& in) {
  return call("add.out", {in[0], in[1], in[2]});
}

/// A program, and the sizes of its inputs.
struct Case {
  const char* name;
  Program (*program)();
  std::vector<Dims> inputs;
  AnyTensor (*make)(const Dims& sizes) = counted;

  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

class AllOrNothings : public testing::TestWithParam<Case> {};

TEST_P(AllOrNothings, of_inputs_are_written) {
  const Case& one = GetParam();
  expect_all_or_nothing(one.program(), [&one] {
    Tensors inputs;
    for (const Dims& sizes : one.inputs) {
      inputs.push_back(one.make(sizes));
    }
    return inputs;
  });
}

AnyTensor part_under_the_pass(const Dims& sizes) {
  Dims whole = sizes;
  whole.insert(whole.begin(), 2);
  return call_for_one("select", {to_functional(counted(whole)), 0, 1});
}

Program batched() {
  return vmap(functionalize(write_both), {1, 0});
}

INSTANTIATE_TEST_SUITE_P(
    Each, AllOrNothings,
    testing::Values(
        Case{"in_memory", [] { return functionalize(write_both); }, {{2, 3}, {2}}},
        Case{"of_many_dimensions", [] { return functionalize(turn); }, {Dims(9, 2), Dims(9, 2)}},
        Case{
            "transposed_resized_and_set", [] { return functionalize(change); }, {{2, 3}, {2}, {4}}},
        Case{"into_an_empty_tensor", [] { return Program(add_into); }, {{2, 3}, {3}, {0}}},
        Case{"opaque", [] { return functionalize(write_both); }, {{2, 3}, {2}}, counted_opaque},
        Case{"captured",
             [] {
               return Program(capture(write_both, {counted({2, 3}), counted({2})}));
             },
             {{2, 3}, {2}}},
        Case{"batches", batched, {{2, 3, 3}, {3, 2}}},
        Case{"opaque_batches", batched, {{2, 3, 3}, {3, 2}}, counted_opaque},
        Case{"batches_of_the_pass",
             [] {
               return vmap(write_both, {1, 0});
             },
             {{2, 3, 3}, {3, 2}},
             part_under_the_pass},
        Case{"batches_under_the_pass",
             [] {
               return functionalize(vmap(write_both, {1, 0}));
             },
             {{2, 3, 3}, {3, 2}}}),
    [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

TEST(AllOrNothing, updates_of_views_are_applied_once_however_often_that_fails) {
  const auto written = [] {
    const AnyTensor x = to_functional(counted({3, 2}));
    call("fill_", {element(x, 0), 7});
    call("fill_", {call_for_one("select", {x, 1, 0}), 8});
    return x;
  };
  const std::string expected = text_of_value(written());
  int failures = 0;
  for (bool is_done = false; !is_done; ++failures) {
    const AnyTensor x = written();
    ASSERT_EQ(pass_of(x).alias()->pending_updates(), 2U);
    is_done = is_done_without_new(failures, [&] { from_functional(x); });
    ASSERT_EQ(text_of_value(x), expected) << "allocation " << failures << " failed";
    EXPECT_EQ(pass_of(x).alias()->pending_updates(), 0U);
  }
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace byre::test
