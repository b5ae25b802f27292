// SPDX-License-Identifier: BSL-1.0
// What functions of the user's throw, and sizes that nobody can have.
#include <byre/memory/allocator.hpp>

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include "tensors.hpp"

namespace byre::test {
namespace {

struct TooLong : std::length_error {
  TooLong() : length_error("a length of the user's own") {}
};

template <class Thrown>
Tensors fail(const Tensors&) {
  throw Thrown();
}

/// test_refuse, whose kernel throws.
const Operator& refuse_memory() {
  static const Definition once =
      define("test_refuse(Tensor a) -> Tensor").cpu([](const AnyTensor&) -> AnyTensor {
        throw std::bad_alloc();
      });
  return once.op();
}
const Operator& refuse_length() {
  static const Definition once =
      define("test_refuse.length(Tensor a) -> Tensor").cpu([](const AnyTensor&) -> AnyTensor {
        throw TooLong();
      });
  return once.op();
}

std::string refusal_of(const std::function<void()>& step) {
  return complaint_of<OutOfMemory>(step);
}

TEST(ErrorsWithinCalls, memory_that_a_kernel_does_not_get_is_an_error_of_its_operator) {
  EXPECT_TRUE(says(refusal_of([] { (void)call(refuse_memory(), {zeros({2})}); }), "test_refuse"));
  const AnyTensor x = to_functional(zeros({2}));
  EXPECT_TRUE(says(refusal_of([&] { (void)call(refuse_memory(), {x}); }), "test_refuse"));
}

TEST(ErrorsWithinCalls, memory_that_a_program_does_not_get_is_an_error_of_what_runs_it) {
  const Program program = fail<std::bad_alloc>;
  const Tensors in{zeros({2})};
  EXPECT_TRUE(says(refusal_of([&] { (void)functionalize(program)(in); }), "functionalize"));
  EXPECT_TRUE(says(refusal_of([&] { (void)vmap(program)(in); }), "vmap"));
  EXPECT_TRUE(says(refusal_of([&] { (void)capture(program, in); }), "capture"));
}

TEST(ErrorsWithinCalls, other_exceptions_of_the_user_pass) {
  const Program program = fail<TooLong>;
  const Tensors in{zeros({2})};
  EXPECT_THROW((void)call(refuse_length(), {in[0]}), TooLong);
  EXPECT_THROW((void)functionalize(program)(in), TooLong);
  EXPECT_THROW((void)vmap(program)(in), TooLong);
  EXPECT_THROW((void)capture(program, in), TooLong);
}

TEST(ErrorsWithinCalls, more_numbers_than_an_object_can_have_are_no_shape) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : {most, most / 2, most / 8, most / 16 * 2 + 2, std::int64_t{-1},
                                   std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { (void)call("arange", {count}); }), "arange"))
        << count;
  }
}

TEST(ErrorsWithinCalls, more_numbers_than_memory_has_are_too_much_for_it) {
  const auto most_numbers = static_cast<std::int64_t>(max_nbytes / sizeof(std::int64_t));
  for (const std::int64_t count : {most_numbers, most_numbers / 2}) {
    // Where pointers have 32 bits, there may be memory for one such tensor.
    std::vector<Tensor> others;
    EXPECT_THROW(
        for (;;) { others.push_back(Tensor::empty({count}, DType::i64)); }, OutOfMemory);
    EXPECT_TRUE(says(refusal_of([&] {
                       (void)call("arange", {count, DType::u8});
                     }),
                     "bytes"))
        << count;
  }
}

}  // namespace
}  // namespace byre::test
