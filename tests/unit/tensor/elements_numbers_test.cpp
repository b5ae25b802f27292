// SPDX-License-Identifier: BSL-1.0
/// Scalars as operands, in range and out of range of the tensor's dtype, and their conversion to
/// C++ numbers.
#include "elements_support.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

namespace byre::test {
namespace {

TEST(NumbersTest, integers_out_of_range_of_the_dtype_are_rejected) {
  Tensor chars = Tensor::of<std::int8_t>({2}, {0, 127});
  const Tensor mask = ge(chars, 1);
  EXPECT_EQ(
      complaint_of<byre::DTypeError>([&] { add(chars, 300); }),
      "add: the number 300 is out of range of i8, the dtype of the tensor. Convert the tensor "
      "first, by copy_() to a wider dtype.");
  EXPECT_THROW(add_(chars, 128), byre::DTypeError);
  EXPECT_THROW(sub(-129, chars), byre::DTypeError);
  EXPECT_THROW(mul(Tensor::zeros({2}, DType::u8), -1), byre::DTypeError);
  EXPECT_THROW(div(chars, 1 << 20), byre::DTypeError);
  EXPECT_THROW(where(mask, chars, 200), byre::DTypeError);
  EXPECT_THROW(fill_(chars, 200), byre::DTypeError);
  EXPECT_EQ(chars.at<std::int8_t>({1}), 127);
  EXPECT_EQ(add_(chars, -128).at<std::int8_t>({0}), -128);
  EXPECT_EQ(sub(chars, 127).at<std::int8_t>({0}), 1);        // elements wrap around
  EXPECT_EQ(fill_(chars, 200.0).at<std::int8_t>({0}), 127);  // saturates, as copy_ does
  Tensor truths = Tensor::zeros({2}, DType::boolean);
  EXPECT_TRUE(fill_(truths, 256).at<bool>({1}));
  EXPECT_EQ(add(truths, 300).at<std::int64_t>({0}), 301);
}

TEST(NumbersTest, comparisons_with_integers_out_of_range_are_exact) {
  const auto expect_bools = [](const Tensor& found, bool first, bool second) {
    EXPECT_EQ(found.at<bool>({0}), first);
    EXPECT_EQ(found.at<bool>({1}), second);
  };
  const Tensor chars = Tensor::of<std::int8_t>({2}, {-56, 127});
  expect_bools(ge(chars, 200), false, false);
  expect_bools(ge(200, chars), true, true);
  expect_bools(eq(chars, 200), false, false);
  expect_bools(ge(chars, -1000), true, true);
  const Tensor bytes = Tensor::of<std::uint8_t>({2}, {255, 0});
  expect_bools(eq(bytes, -1), false, false);
  expect_bools(eq(-1, bytes), false, false);
  expect_bools(eq(bytes, 255), true, false);
  expect_bools(ge(-1, bytes), false, false);
  expect_bools(eq(Tensor::of<bool>({2}, {true, false}), 2), false, false);
}

TEST(NumbersTest, integers_out_of_range_of_i64_are_rejected) {
  Tensor x = Tensor::zeros({1}, DType::f64);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(
      complaint_of<byre::DTypeError>([&] { fill_(x, most); }),
      "the number 18446744073709551615 is out of range of i64, the widest integral dtype. Pass "
      "a floating-point number.");
  EXPECT_THROW(fill_(x, most / 2 + 1), byre::DTypeError);
  EXPECT_EQ(fill_(x, static_cast<double>(most)).at<double>({0}), 0x1p64);
  EXPECT_EQ(add(Tensor::zeros({1}, DType::i64), most / 2).at<std::int64_t>({0}),
            std::numeric_limits<std::int64_t>::max());
}

template <class T>
bool is_refused_as(const Scalar& number) {
  const std::string text =
      complaint_of<byre::DTypeError>([&] { std::ignore = number.template as<T>(); });
  return text.starts_with("Scalar::as: the number ") && text.find("integer of ") != text.npos;
}

template <class T>
void expect_range_of_integers() {
  using Limits = std::numeric_limits<T>;
  const double beyond = std::ldexp(1.0, Limits::digits);
  const double lowest = std::is_signed_v<T> ? -beyond : 0.0;
  EXPECT_EQ(Scalar(lowest).as<T>(), Limits::min());
  EXPECT_EQ(Scalar(-0.9).as<T>(), T{0});
  EXPECT_EQ(Scalar(100.9).as<T>(), T{100});
  EXPECT_EQ(Scalar(std::complex<float>(3.9F, 1e30F)).as<T>(), T{3});
  EXPECT_EQ(Scalar(true).as<T>(), T{1});
  const double largest = std::nextafter(beyond, 0.0);
  EXPECT_EQ(Scalar(largest).as<T>(), static_cast<T>(largest));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double odd : {beyond, std::nextafter(lowest - 1, -infinity), 1e300, -1e300, infinity,
                           -infinity, std::nan("")}) {
    EXPECT_TRUE(is_refused_as<T>(odd)) << odd;
  }
  EXPECT_TRUE(is_refused_as<T>(std::complex<float>(-1e30F, 0)));
  if constexpr (!std::is_signed_v<T>) {
    EXPECT_TRUE(is_refused_as<T>(-1));
    EXPECT_TRUE(is_refused_as<T>(-1.0));
  }
  if constexpr (sizeof(T) < sizeof(std::int64_t)) {
    EXPECT_EQ(Scalar(Limits::max()).as<T>(), Limits::max());
    EXPECT_EQ(Scalar(Limits::min()).as<T>(), Limits::min());
    EXPECT_TRUE(is_refused_as<T>(std::int64_t{Limits::max()} + 1));
    EXPECT_TRUE(is_refused_as<T>(std::int64_t{Limits::min()} - 1));
  }
}

TEST(NumbersTest, as_truncates_to_integers_and_rejects_values_out_of_range) {
  expect_range_of_integers<char>();
  expect_range_of_integers<signed char>();
  expect_range_of_integers<std::uint8_t>();
  expect_range_of_integers<std::int16_t>();
  expect_range_of_integers<std::uint32_t>();
  expect_range_of_integers<std::int32_t>();
  expect_range_of_integers<std::int64_t>();
  expect_range_of_integers<std::uint64_t>();
  EXPECT_EQ(
      complaint_of<byre::DTypeError>([] { std::ignore = Scalar(300).as<std::uint8_t>(); }),
      "Scalar::as: the number 300 is out of range of an unsigned integer of 8 bits. Request a "
      "wider type, or a floating-point type.");
}

TEST(NumbersTest, as_converts_every_value_to_floating_point_and_bool) {
  EXPECT_EQ(Scalar(1e300).as<float>(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Scalar(-1e300).as<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(Scalar(std::nan("")).as<float>()));
  EXPECT_EQ(Scalar(1 << 24 | 1).as<float>(), 0x1p24F);
  EXPECT_EQ(Scalar(std::complex<float>(2, 3)).as<double>(), 2.0);
  EXPECT_TRUE(Scalar(std::nan("")).as<bool>());
  EXPECT_TRUE(Scalar(0.1).as<bool>());
  EXPECT_TRUE(Scalar(std::complex<float>(0, 1)).as<bool>());
  EXPECT_FALSE(Scalar(-0.0).as<bool>());
}

TEST(NumbersTest, as_preserves_subnormal_floats_and_the_sign_of_zero) {
  EXPECT_EQ(Scalar(-0x1p-149F).as<double>(), -0x1p-149);
  EXPECT_EQ(Scalar(0x1p-149F).as<double>(), 0x1p-149);
  EXPECT_TRUE(std::signbit(Scalar(-0.0F).as<double>()));
}

TEST(NumbersTest, where_of_two_numbers_returns_the_higher_category) {
  const Tensor mask = Tensor::of<bool>({2}, {true, false});
  EXPECT_EQ(where(mask, 1000, true).at<std::int64_t>({0}), 1000);
  EXPECT_EQ(where(mask, 1000, true).at<std::int64_t>({1}), 1);
  EXPECT_EQ(where(mask, 1, 0.5).at<float>({1}), 0.5F);
  EXPECT_EQ(where(mask, true, false).dtype(), DType::boolean);
  EXPECT_EQ(where(mask, 1, std::complex<float>(0, 1)).dtype(), DType::complex64);
}

}  // namespace
}  // namespace byre::test
