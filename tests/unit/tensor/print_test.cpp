// SPDX-License-Identifier: BSL-1.0
// Tensors as text. tests/numpy compares many more with what NumPy prints.
#include <byre/tensor/print.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "support/complaint.hpp"
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

TEST(Printing, puts_elements_into_nested_brackets_and_columns) {
  EXPECT_EQ(to_string(range<std::int32_t>({2, 2, 3})),
            "[[[ 0  1  2]\n  [ 3  4  5]]\n\n [[ 6  7  8]\n  [ 9 10 11]]]");
  EXPECT_EQ(to_string(range<float>({3, 2}).t()), "[[0. 2. 4.]\n [1. 3. 5.]]");
  EXPECT_EQ(to_string(Tensor::of<float>({3}, {1.0F, -2.25F, 0.5F})), "[ 1.   -2.25  0.5 ]");
}

TEST(Printing, shows_what_a_view_sees) {
  const Tensor whole = range<std::int64_t>({4, 5});
  EXPECT_EQ(to_string(whole.slice(1, 1, 5, 2).select(0, 2)), "[11 13]");
  EXPECT_EQ(to_string(whole.select(0, 3).select(0, 4).expand({2, 2})), "[[19 19]\n [19 19]]");
}

TEST(Printing, knows_every_dtype) {
  EXPECT_EQ(to_string(Tensor::of<bool>({2}, {true, false})), "[ True False]");
  EXPECT_EQ(to_string(Tensor::of<std::uint8_t>({2}, {0, 255})), "[  0 255]");
  EXPECT_EQ(to_string(Tensor::of<std::int8_t>({2}, {-128, 7})), "[-128    7]");
  EXPECT_EQ(to_string(Tensor::of<std::int16_t>({1}, {-32768})), "[-32768]");
  EXPECT_EQ(to_string(Tensor::of<std::int64_t>({1}, {std::numeric_limits<std::int64_t>::min()})),
            "[-9223372036854775808]");
  EXPECT_EQ(to_string(Tensor::of<Float16>({3}, {0.1F, 65504.0F, -0.0F})),
            "[ 1.00e-01  6.55e+04 -0.00e+00]");
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({3}, {0.1F, 3.140625F, 1.0F})), "[0.1  3.14 1.  ]");
  EXPECT_EQ(to_string(Tensor::of<float>({1}, {0.1F})), "[0.1]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {1.0 / 3})), "[0.33333333]");
  EXPECT_EQ(to_string(Tensor::of<std::complex<float>>({2}, {{1, -2}, {0.5, 10}})),
            "[1.  -2.j 0.5+10.j]");
}

TEST(Printing, has_words_for_what_is_not_finite) {
  EXPECT_EQ(to_string(Tensor::of<float>({4}, {nan, inf, -inf, 1.5F})), "[ nan  inf -inf  1.5]");
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({2}, {nan, -inf})), "[ nan -inf]");
  EXPECT_EQ(to_string(Tensor::of<float>({1}, {-nan})), "[nan]");
}

TEST(Printing, is_scientific_where_magnitudes_differ) {
  EXPECT_EQ(to_string(Tensor::of<double>({2}, {1.0, 1001.0})), "[1.000e+00 1.001e+03]");
  EXPECT_EQ(to_string(Tensor::of<double>({2}, {1e-5, 1e100})), "[1.e-005 1.e+100]");
}

TEST(Printing, summarizes_large_tensors_unless_told_otherwise) {
  EXPECT_EQ(to_string(range<std::int32_t>({1001})), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(to_string(range<std::int32_t>({7, 2}), {.threshold = 3, .edge_items = 1}),
            "[[ 0  1]\n ...\n [12 13]]");
  const std::string all = to_string(range<std::int32_t>({1001}), {.threshold = 1001});
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_TRUE(says(all, " 500 "));
  EXPECT_EQ(to_string(range<std::int32_t>({5}), {.threshold = 0, .edge_items = 0}), "[0 ... 4]");
}

TEST(Printing, goes_on_in_the_next_line) {
  EXPECT_EQ(to_string(range<std::int32_t>({2, 6}), {.line_width = 12}),
            "[[ 0  1  2\n   3  4  5]\n [ 6  7  8\n   9 10 11]]");
  EXPECT_EQ(to_string(range<std::int32_t>({4}), {.line_width = 9}), "[0 1 2 3]");
  EXPECT_EQ(to_string(range<std::int32_t>({4}), {.line_width = 8}), "[0 1 2\n 3]");
  EXPECT_EQ(to_string(range<std::int32_t>({2}), {.line_width = 0}), "[0\n 1]");
}

TEST(Printing, rounds_to_the_precision_asked_for) {
  EXPECT_EQ(to_string(Tensor::of<double>({2}, {2.0 / 3, 2}), {.precision = 2}), "[0.67 2.  ]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {2.0 / 3}), {.precision = -1}), "[1.]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {0.1}), {.precision = 60}), "[0.1]");
}

TEST(Printing, of_no_dimensions_or_no_elements_is_short) {
  EXPECT_EQ(to_string(Tensor::of<float>({}, {2.0F})), "2.");
  EXPECT_EQ(to_string(Tensor::of<bool>({}, {true})), "True");
  EXPECT_EQ(to_string(Tensor::empty({0}, DType::f32)), "[]");
  EXPECT_EQ(to_string(Tensor::empty({2, 0, 3}, DType::f32)), "[]");
  EXPECT_EQ(to_string(Tensor::empty({2, 0, 3}, DType::f32), {.type = true}), "[], f32 [2, 0, 3]");
}

TEST(Printing, adds_what_it_is_a_tensor_of) {
  EXPECT_EQ(to_string(range<std::int32_t>({2}), {.type = true}), "[0 1], i32 [2]");
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

TEST(Printing, does_not_write) {
  const Tensor tensor = range<float>({3});
  const Tensor clone = tensor.lazy_clone();
  EXPECT_EQ(to_string(clone), "[0. 1. 2.]");
  EXPECT_TRUE(tensor.storage().shares_data_with(clone.storage()));
}

TEST(Printing, goes_to_a_stream) {
  std::ostringstream stream;
  stream << range<std::int32_t>({2});
  EXPECT_EQ(stream.str(), "[0 1]");
}

}  // namespace
}  // namespace byre::test
