// SPDX-License-Identifier: BSL-1.0
/// The two 16-bit floating-point types: Float16 is IEEE 754 binary16, BFloat16 is the upper half of
/// an IEEE 754 binary32 (float). Objects store bits; arithmetic converts them to float.
///
/// A conversion from float rounds to nearest, ties to even. A conversion to float is exact. The
/// floating-point environment (flush-to-zero, rounding mode, trapped exceptions) does not affect
/// conversions, because they consist of integer operations and exact conversions of integers.
#pragma once

#include <byre/config.hpp>

#include <bit>
#include <cstdint>

namespace byre::inline BYRE_ABI {

namespace detail {

constexpr float float_of_binary16(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) {  // infinite or NaN
    return std::bit_cast<float>(sign | 0x7F80'0000U | (magnitude & 0x3FFU) << 13);
  }
  // The exponent's bias is 112 less than a float's.
  if (magnitude >= 0x0400U) {
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
  }
  if (magnitude == 0) {
    return std::bit_cast<float>(sign);
  }
  // A subnormal is `magnitude` times 2^-24: convert `magnitude` to float and subtract 24 from the
  // exponent.
  const auto whole = static_cast<float>(static_cast<std::int32_t>(magnitude));
  return std::bit_cast<float>(sign | (std::bit_cast<std::uint32_t>(whole) - (24U << 23)));
}

constexpr std::uint16_t binary16_of_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
  // NaN stays NaN, even if all set bits of its fraction are cut off.
  if (magnitude > 0x7F80'0000U) {
    return static_cast<std::uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  }
  if (magnitude >= 0x477F'F000U) {  // rounds to 65536 or more
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  }
  if (magnitude <= 0x3300'0000U) {  // at most half of the smallest subnormal
    return sign;
  }
  if (magnitude < 0x3880'0000U) {  // subnormal: a whole number of 2^-24, rounded
    const std::uint32_t cut_bits = 126U - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x007F'FFFFU) | 0x0080'0000U;
    const std::uint32_t odd = significand >> cut_bits & 1U;
    const std::uint32_t below_half = (1U << (cut_bits - 1)) - 1U;
    return static_cast<std::uint16_t>(sign | (significand + below_half + odd) >> cut_bits);
  }
  const std::uint32_t odd = magnitude >> 13 & 1U;
  return static_cast<std::uint16_t>(sign | (magnitude - 0x3800'0000U + 0xFFFU + odd) >> 13);
}

constexpr std::uint16_t bfloat16_of_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFF'FFFFU) > 0x7F80'0000U) {
    return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace detail

/// An IEEE 754 binary16 number: 5 bits of exponent, 10 of fraction.
class Float16 {
 public:
  Float16() = default;
  constexpr Float16(float value) noexcept : bits_(detail::binary16_of_float(value)) {}
  constexpr operator float() const noexcept { return detail::float_of_binary16(bits_); }

  static constexpr Float16 of_bits(std::uint16_t bits) noexcept {
    return std::bit_cast<Float16>(bits);
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_;
};

/// A bfloat16 number: 8 bits of exponent, 7 of fraction.
class BFloat16 {
 public:
  BFloat16() = default;
  constexpr BFloat16(float value) noexcept : bits_(detail::bfloat16_of_float(value)) {}
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  static constexpr BFloat16 of_bits(std::uint16_t bits) noexcept {
    return std::bit_cast<BFloat16>(bits);
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_;
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace byre::inline BYRE_ABI
