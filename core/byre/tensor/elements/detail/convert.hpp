// SPDX-License-Identifier: BSL-1.0
/// Conversion of elements from dtype to dtype: defined for every pair and every value.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/dtype.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace byre::inline v0::detail {

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>>;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// Truncated; what is out of range becomes the nearest integer there is, not a number becomes 0.
template <std::integral To, std::floating_point From>
constexpr To saturated(From value) noexcept {
  // Powers of two, or 0: exact in any floating-point type. The largest integer need not be.
  constexpr auto lowest = static_cast<From>(std::numeric_limits<To>::min());
  constexpr To half = std::numeric_limits<To>::max() / 2 + 1;
  constexpr auto beyond = static_cast<From>(half) * From{2};
  return value >= beyond   ? std::numeric_limits<To>::max()
         : value > lowest  ? static_cast<To>(value)
         : value <= lowest ? std::numeric_limits<To>::min()
                           : To{0};
}

/// The element in memory that may not be this program's: of bool it may hold other bytes than 0 and 1,
/// which are true. To read such a one as a bool is undefined.
template <Element T>
T loaded(const T& element) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return reinterpret_cast<const unsigned char&>(element) != 0;
  } else {
    return element;
  }
}

// A number out of a narrower type's range is infinite there. By C++ alone it would be undefined.
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// To bool: whether it is not 0. Between integers: modulo 2^bits. To floating: rounded to nearest, and
/// infinite out of range; to the halves by way of float. From complex: the real part, but to bool.
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

/// Converts `length` elements, whose strides are in bytes. The two may be the same memory, seen
/// alike, but not overlap otherwise.
using ConvertRow = void (*)(std::byte* to, std::int64_t to_stride, const std::byte* from,
                            std::int64_t from_stride, std::int64_t length);

/// Throws DTypeError, which names `operation`, for DType::uninitialized.
BYRE_API ConvertRow conversion(DType to, DType from, const char* operation);

}  // namespace byre::inline v0::detail
