// SPDX-License-Identifier: BSL-1.0
/// Conversions between the types of elements, which are defined for every pair of types and every
/// value.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/dtype.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace byre::inline BYRE_ABI::detail {

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>>;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// `value` truncated to an integer. A number out of range becomes the nearest integer of the type;
/// NaN becomes 0.
template <std::integral To, std::floating_point From>
constexpr To saturated(From value) noexcept {
  // Both limits are exact in any floating-point type, because the magnitude of each is 0 or a power
  // of two. The largest integer may be inexact, so the upper limit is the number after it.
  constexpr auto lowest = static_cast<From>(std::numeric_limits<To>::min());
  constexpr To half = std::numeric_limits<To>::max() / 2 + 1;
  constexpr auto beyond = static_cast<From>(half) * From{2};
  return value >= beyond   ? std::numeric_limits<To>::max()
         : value > lowest  ? static_cast<To>(value)
         : value <= lowest ? std::numeric_limits<To>::min()
                           : To{0};
}

/// Reads an element of memory that code outside of byre may have written. In such memory, a bool
/// may be a byte other than 0 and 1. Returns true for such a byte; reading it as a bool would be
/// undefined.
template <Element T>
T loaded(const T& element) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return reinterpret_cast<const unsigned char&>(element) != 0;
  } else {
    return element;
  }
}

// Required by converted(): in IEEE 754 the conversion of a number out of range is infinite; C++
// alone leaves it undefined.
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// `value` converted to To:
/// - To bool: whether the value is not 0.
/// - Between integers: modulo 2^bits.
/// - From floating-point to integer: saturated().
/// - To floating-point: rounded to nearest; infinite if out of range. To f16 and bf16 by way of
///   float.
/// - From complex: the real part, except to bool.
template <Element To, Element From>
constexpr To converted(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (is_complex<From>) {
    return converted<To>(value.real());
  } else if constexpr (is_complex<To>) {
    return {converted<float>(value), 0.0F};
  } else if constexpr (is_half<From>) {
    return converted<To>(static_cast<float>(value));
  } else if constexpr (is_half<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return saturated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Converts `length` elements. Strides are in bytes. Requires that `to` and `from` overlap element
/// for element or not at all.
using ConvertRow = void (*)(std::byte* to, std::int64_t to_stride, const std::byte* from,
                            std::int64_t from_stride, std::int64_t length);

/// The function for two dtypes. Throws DTypeError, which names `operation`, for
/// DType::uninitialized.
BYRE_API ConvertRow conversion(DType to, DType from, const char* operation);

}  // namespace byre::inline BYRE_ABI::detail
