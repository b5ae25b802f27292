// SPDX-License-Identifier: BSL-1.0
/// The two operations that others are made of, for every type that is computed with.
#pragma once

#include <byre/tensor/elements/convert.hpp>

#include <concepts>
#include <type_traits>

namespace byre::inline v0::detail {

/// What arithmetic has its full meaning for.
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

/// What a T is computed as so that it wraps around where it overflows: unsigned, and no narrower than
/// unsigned, or it would be promoted to int.
template <class T>
using Wrapping = typename WrappingType<T>::Type;

/// Of bool, what is not 0 being true: or.
struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

/// Of bool: and.
struct Multiply {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
};

}  // namespace byre::inline v0::detail
