// SPDX-License-Identifier: BSL-1.0
/// Arithmetic, comparisons and selection on single elements. Each operation is a function object
/// whose operator() is declared only for the types that the operation supports.
#pragma once

#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/elements/detail/exponential.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace byre::inline BYRE_ABI::detail {

/// The types that support all arithmetic. bool lacks subtraction and negation.
template <class T>
concept Number = !std::same_as<T, bool>;

template <class T, bool IsIntegral = std::is_integral_v<T>>
struct WrappingType {
  using Type = T;
};
template <class T>
struct WrappingType<T, true> {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <>
struct WrappingType<bool> {
  using Type = unsigned;
};

/// The type in which operations on integers of type T are computed, so that overflow wraps around.
/// The type is unsigned. It is at least as wide as unsigned int, because C++ would promote a
/// narrower type to int, whose overflow is undefined. For other types, T itself.
template <class T>
using Wrapping = typename WrappingType<T>::Type;

/// For bool: logical or, because the sum converts to true unless it is 0.
struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

/// For bool: logical and.
struct Multiply {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
};

struct Subtract {
  template <Number T>
  T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};

struct Divide {
  template <class T>
  requires(!std::integral<T>) T operator()(T a, T b) const { return a / b; }
};

struct Negate {
  template <Number T>
  T operator()(T a) const {
    return static_cast<T>(-Wrapping<T>(a));
  }
};

struct Rectify {
  template <Number T>
  requires(!is_complex<T>) T operator()(T a) const {
    return std::max(a, T{0});  // returns a if a is NaN
  }
};

struct Exponentiate {
  template <class T>
  requires(!std::integral<T>) T operator()(T a) const { return std::exp(a); }

  template <std::floating_point T>
  static void of_block(std::int64_t length, T* result, const T* numbers) noexcept {
    exponentiate(result, numbers, length);
  }
};

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

struct GreaterOrEqual {
  template <class T>
  requires(!is_complex<T>) bool operator()(T a, T b) const { return a >= b; }
};

struct Select {
  template <class T>
  T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};

}  // namespace byre::inline BYRE_ABI::detail
