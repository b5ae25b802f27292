// SPDX-License-Identifier: BSL-1.0
// The 16-bit floating-point types, compared with the definitions of their formats: all bit
// patterns, and floats near the midpoints between adjacent numbers.
#include <byre/tensor/half.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/random.hpp"

namespace byre::test {
namespace {

/// A reference implementation of a format, computed with doubles, which represent all numbers of
/// the format.
struct Format {
  int exponent_bits;
  int fraction_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int fraction_of(unsigned bits) const {
    return static_cast<int>(bits & ((1U << fraction_bits) - 1U));
  }
  int exponent_of(unsigned bits) const {
    return static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1U));
  }
  bool is_special(unsigned bits) const { return exponent_of(bits) == (1 << exponent_bits) - 1; }
  unsigned infinity() const { return ((1U << exponent_bits) - 1U) << fraction_bits; }

  /// The value of a bit pattern other than infinity and NaN.
  double value_of(unsigned bits) const {
    const int exponent = exponent_of(bits);
    const int fraction = fraction_of(bits) + (exponent == 0 ? 0 : 1 << fraction_bits);
    const double magnitude =
        std::ldexp(fraction, (exponent == 0 ? 1 : exponent) - bias() - fraction_bits);
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
  }

  /// Finds the nearest number of the format by bisection. If two numbers are equally near,
  /// returns the number with the even bit pattern.
  unsigned nearest(float value) const {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const double magnitude = std::abs(static_cast<double>(value));
    unsigned below = 0;
    unsigned above = infinity();
    while (above - below > 1) {
      const unsigned middle = (below + above) / 2;
      (value_of(middle) <= magnitude ? below : above) = middle;
    }
    // The neighbor above the largest number is computed as if larger exponents existed.
    const double next = above == infinity() ? std::ldexp(1.0, bias() + 1) : value_of(above);
    const double to_below = magnitude - value_of(below);
    const double to_above = next - magnitude;
    const bool is_nearer_below = to_below < to_above || (to_below == to_above && below % 2 == 0);
    return sign | (is_nearer_below ? below : above);
  }
};

constexpr Format binary16{5, 10};
constexpr Format bfloat16{8, 7};

template <class Half>
class Halves : public ::testing::Test {
 protected:
  static constexpr Format format = std::is_same_v<Half, Float16> ? binary16 : bfloat16;

  /// Expects that `value` is converted to the nearest number of the format. NaN must stay NaN and
  /// preserve its sign, even if all set bits of its fraction are cut off.
  static void expect_nearest(float value) {
    const Half half(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half)));
      EXPECT_EQ(half.bits() >> 15 != 0, std::signbit(value));
      return;
    }
    EXPECT_EQ(half.bits(), format.nearest(value))
        << std::hexfloat << value << " = " << std::bit_cast<std::uint32_t>(value);
  }
};

using BothHalves = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Halves, BothHalves);

TYPED_TEST(Halves, every_bit_pattern_survives_a_round_trip_through_float) {
  for (unsigned bits = 0; bits <= 0xFFFFU; ++bits) {
    const float value = TypeParam::of_bits(static_cast<std::uint16_t>(bits));
    const unsigned quiet = 1U << (this->format.fraction_bits - 1);  // set in quiet NaNs
    EXPECT_EQ(TypeParam(value).bits(), std::isnan(value) ? bits | quiet : bits);
    const unsigned magnitude = bits & 0x7FFFU;
    if (magnitude > this->format.infinity()) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else if (magnitude == this->format.infinity()) {
      EXPECT_TRUE(std::isinf(value)) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(value), this->format.value_of(bits)) << bits;
    }
    EXPECT_EQ(std::signbit(value), bits > 0x7FFFU) << bits;
  }
}

TYPED_TEST(Halves, floats_round_to_nearest_even) {
  for (unsigned bits = 0; bits < this->format.infinity(); ++bits) {
    const double low = this->format.value_of(bits);
    const double high = bits + 1 == this->format.infinity()
                            ? std::ldexp(1.0, this->format.bias() + 1)
                            : this->format.value_of(bits + 1);
    const auto tie = static_cast<float>((low + high) / 2);
    for (const float value : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, INFINITY)}) {
      this->expect_nearest(value);
      this->expect_nearest(-value);
    }
  }
}

TYPED_TEST(Halves, random_bit_patterns_round_to_nearest) {
  using Floats = std::numeric_limits<float>;
  std::vector<float> values{0.0F, Floats::max(), Floats::min(), Floats::denorm_min(), INFINITY};
  for (std::uint32_t fraction = 1; fraction < 0x80'0000U; fraction <<= 1) {
    values.push_back(std::bit_cast<float>(0x7F80'0000U | fraction));  // NaN
  }
  RandomEngine random(seed());
  while (values.size() < 200'000) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
  for (const float value : values) {
    this->expect_nearest(value);
    this->expect_nearest(-value);
  }
}

}  // namespace
}  // namespace byre::test
