// SPDX-License-Identifier: BSL-1.0
/// The number of elements of the storage that a layout uses, and the layout of a copy of only these
/// elements. A clone copies this way if a view uses less than half of its storage. docs/costs.md
/// has the rule.
#pragma once

#include <byre/tensor/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// An upper bound of the number of distinct elements of a layout: elements that strides of 0 repeat
/// count once, and the bound is at most the length of the range from the first to the last element.
inline std::int64_t max_distinct_elements(const Layout& layout) noexcept {
  std::int64_t distinct = 1;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    const bool repeats = layout.strides[axis] == 0 && layout.sizes[axis] > 1;
    distinct *= repeats ? 1 : layout.sizes[axis];
  }
  return distinct == 0 ? 0 : std::min(distinct, layout.end() - layout.offset);
}

/// True if `nbytes` is less than half of `storage_nbytes`.
constexpr bool is_less_than_half(std::size_t nbytes, std::size_t storage_nbytes) noexcept {
  return nbytes < storage_nbytes - nbytes && nbytes < storage_nbytes;
}

struct Compact {
  Layout copied;  ///< the elements of the source to copy, each once, in the order of the copy
  Layout layout;  ///< the view of the copy that equals the source
};

/// The layouts of a compact copy. The copy preserves the order of the strides of `layout`, and
/// repeats elements by strides of 0 where `layout` does. If elements overlap in another way, the
/// copy has all elements of the storage from the first to the last. Throws OutOfMemory if memory is
/// exhausted.
Compact compacted(const Layout& layout);

}  // namespace byre::inline BYRE_ABI::detail
