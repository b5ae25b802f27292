// SPDX-License-Identifier: BSL-1.0
/// Comparisons from element to element, and the choice by what they yield.
#pragma once

#include <byre/tensor/elements/detail/convert.hpp>

namespace byre::inline v0::detail {

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

}  // namespace byre::inline v0::detail
