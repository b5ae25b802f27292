// SPDX-License-Identifier: BSL-1.0
// Exceptions of the user's functions, and sizes that cannot be allocated.
#include <byre/memory/allocator.hpp>

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tensors.hpp"

namespace byre::test {
namespace {

struct TooLong : std::length_error {
  TooLong() : length_error("a length of the user's own") {}
};

/// Returns calls, with their names, that run a user's kernel or program which throws.
template <class Thrown>
std::vector<std::pair<const char*, std::function<void()>>> calls_that_throw() {
  const Program program = [](const Tensors&) -> Tensors { throw Thrown(); };
  const std::string name = std::is_same_v<Thrown, TooLong> ? "test_refuse.length" : "test_refuse";
  const Operator& op = define(name + "(Tensor a) -> Tensor")
                           .cpu([](const AnyTensor&) -> AnyTensor { throw Thrown(); })
                           .op();
  const Tensors in{zeros({2})};
  return {{"test_refuse", [&op, in] { call(op, {in[0]}); }},
          {"test_refuse", [&op, in] { call(op, {to_functional(in[0])}); }},
          {"functionalize", [program, in] { functionalize(program)(in); }},
          {"vmap", [program, in] { vmap(program)(in); }},
          {"capture", [program, in] { capture(program, in); }}};
}

TEST(UserErrors, bad_alloc_becomes_out_of_memory_that_names_the_function) {
  for (const auto& [name, act] : calls_that_throw<std::bad_alloc>()) {
    EXPECT_TRUE(says(complaint_of<OutOfMemory>(act), name));
  }
}

TEST(UserErrors, exceptions_except_bad_alloc_propagate) {
  for (const auto& [name, act] : calls_that_throw<TooLong>()) {
    EXPECT_THROW(act(), TooLong) << name;
  }
}

TEST(UserErrors, an_element_count_beyond_the_address_space_is_a_shape_error) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : {most, most / 2, most / 8, most / 16 * 2 + 2, std::int64_t{-1},
                                   std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { (void)call("arange", {count}); }), "arange"))
        << count;
  }
}

TEST(UserErrors, an_element_count_beyond_memory_is_out_of_memory) {
  const auto most_numbers = static_cast<std::int64_t>(max_nbytes / sizeof(std::int64_t));
  for (const std::int64_t count : {most_numbers, most_numbers / 2}) {
    // With 32-bit pointers, memory may suffice for one such tensor, so the test allocates several.
    std::vector<Tensor> others;
    EXPECT_THROW(
        for (;;) { others.push_back(Tensor::empty({count}, DType::i64)); }, OutOfMemory);
    EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] {
                       (void)call("arange", {count, DType::u8});
                     }),
                     "bytes"))
        << count;
  }
}

}  // namespace
}  // namespace byre::test
