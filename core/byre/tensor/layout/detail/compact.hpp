// SPDX-License-Identifier: BSL-1.0
/// How many elements of its storage a view has, and the layout of a copy of only these elements.
/// Clones of a view of less than half of its storage use it. docs/costs.md has the rule.
#pragma once

#include <byre/tensor/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// An upper bound of the number of distinct elements of a layout. A stride of 0 repeats
/// elements, and the range from the first to the last element bounds their number.
inline std::int64_t max_distinct_elements(const Layout& layout) noexcept {
  std::int64_t distinct = 1;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    const bool repeats = layout.strides[axis] == 0 && layout.sizes[axis] > 1;
    distinct *= repeats ? 1 : layout.sizes[axis];
  }
  return distinct == 0 ? 0 : std::min(distinct, layout.end() - layout.offset);
}

/// Whether `nbytes` is less than half of `storage_nbytes`.
constexpr bool is_less_than_half(std::size_t nbytes, std::size_t storage_nbytes) noexcept {
  return nbytes < storage_nbytes - nbytes && nbytes < storage_nbytes;
}

struct Compact {
  Layout copied;  ///< the elements of the source to copy, each once, in the order of the copy
  Layout layout;  ///< the view of the copy that equals the source
};

/// A compact copy of `layout`, which preserves the order of the strides and repeats elements by
/// strides of 0. If elements overlap in another way, the copy has all elements from the first to
/// the last.
Compact compacted(const Layout& layout);

}  // namespace byre::inline v0::detail
