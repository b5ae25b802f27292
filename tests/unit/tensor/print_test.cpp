// SPDX-License-Identifier: BSL-1.0
// Tensors as text, where NumPy has nothing to compare with: tests/numpy compares all else.
#include <byre/tensor/print.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <sstream>

#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor range(const Dims& sizes) {
  Tensor tensor = Tensor::empty(sizes, dtype_of<T>);
  T* const first = tensor.mutable_data<T>();
  std::iota(first, first + tensor.numel(), T{0});
  return tensor;
}

TEST(Printing, knows_bf16_which_numpy_lacks) {
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({3}, {0.1F, 3.140625F, 1.0F})), "[0.1  3.14 1.  ]");
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({2}, {nan, -inf})), "[ nan -inf]");
}

TEST(Printing, shows_what_a_view_sees) {
  const Tensor whole = range<std::int64_t>({4, 5});
  EXPECT_EQ(to_string(whole.slice(1, 1, 5, 2).select(0, 2)), "[11 13]");
  EXPECT_EQ(to_string(whole.select(0, 3).select(0, 4).expand({2, 2})), "[[19 19]\n [19 19]]");
  EXPECT_EQ(to_string(range<float>({3, 2}).t()), "[[0. 2. 4.]\n [1. 3. 5.]]");
}

TEST(Printing, takes_options_that_numpy_refuses) {
  const Tensor five = range<std::int32_t>({5});
  EXPECT_EQ(to_string(five, {.threshold = 0, .edge_items = 0}), "[0 ... 4]");
  EXPECT_EQ(to_string(five.slice(0, 0, 2), {.line_width = 0}), "[0\n 1]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {2.0 / 3}), {.precision = -1}), "[1.]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {0.1}), {.precision = 60}), "[0.1]");
  EXPECT_EQ(to_string(five, {.threshold = 4, .edge_items = 1}), "[0 ... 4]");
}

TEST(Printing, adds_what_it_is_a_tensor_of) {
  EXPECT_EQ(to_string(range<std::int32_t>({2}), {.type = true}), "[0 1], i32 [2]");
  EXPECT_EQ(to_string(Tensor::empty({2, 0, 3}, DType::f32), {.type = true}), "[], f32 [2, 0, 3]");
}

TEST(Printing, says_in_which_state_an_uninitialized_tensor_is) {
  EXPECT_EQ(to_string(Tensor()), "no tensor");
  Tensor tensor(Device::cpu());
  EXPECT_EQ(to_string(tensor), "[0], dtype-uninitialized");
  tensor.resize({4});
  EXPECT_EQ(to_string(tensor), "[4], storage- and dtype-uninitialized");
  tensor.realize<float>().free_memory();
  EXPECT_EQ(to_string(tensor), "f32 [4], storage-uninitialized");
}

TEST(Printing, copies_from_other_devices) {
  const Tensor there = range<float>({3}).to(FakeDevice::first().device());
  EXPECT_EQ(to_string(there), "[0. 1. 2.]");
  EXPECT_EQ(to_string(there, {.type = true}), "[0. 1. 2.], f32 [3] on device 1:1 (fake)");
  Tensor uninitialized(FakeDevice::first().device());
  EXPECT_EQ(to_string(uninitialized), "[0] on device 1:1 (fake), dtype-uninitialized");
}

TEST(Printing, goes_to_a_stream) {
  std::ostringstream stream;
  stream << range<std::int32_t>({2});
  EXPECT_EQ(stream.str(), "[0 1]");
}

}  // namespace
}  // namespace byre::test
