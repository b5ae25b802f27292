// SPDX-License-Identifier: BSL-1.0
/// Layouts as text, for readable comparisons in tests.
#pragma once

#include <byre/tensor/layout.hpp>

#include <string>

namespace byre::test {

/// Sizes, strides and offset, for example "[2, 3] by [3, 1] from 0".
inline std::string text_of(const Layout& layout) {
  return to_string(layout.sizes) + " by " + to_string(layout.strides) + " from " +
         std::to_string(layout.offset);
}

inline Layout dense(const Dims& sizes) {
  return contiguous_layout(sizes, "test");
}

}  // namespace byre::test
