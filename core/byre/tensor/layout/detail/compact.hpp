// SPDX-License-Identifier: BSL-1.0
/// How much of its storage a view sees, and the layout of a copy that holds that and no more: what a clone of a
/// small part of a storage is made by. docs/costs.md has the rule.
#pragma once

#include <byre/tensor/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// At most so many elements of the storage are seen: a stride of 0 repeats elements, and no view sees more than
/// lie between its first and its last.
inline std::int64_t max_distinct_elements(const Layout& layout) noexcept {
  std::int64_t apart = 1;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    const bool repeats = layout.strides[axis] == 0 && layout.sizes[axis] > 1;
    apart *= repeats ? 1 : layout.sizes[axis];
  }
  return apart == 0 ? 0 : std::min(apart, layout.end() - layout.offset);
}

/// Whether so many of a storage's bytes are less than half of it.
constexpr bool is_less_than_half(std::size_t nbytes, std::size_t storage_nbytes) noexcept {
  return nbytes < storage_nbytes - nbytes && nbytes < storage_nbytes;
}

struct Compact {
  Layout copied;  ///< the elements, each once, in the order in which the copy holds them
  Layout layout;  ///< the view of the copy: the elements of the source
};

/// The copy keeps the order of the strides and repeats what the source repeats. Elements that overlap otherwise
/// are copied with all that lies between them.
Compact compacted(const Layout& layout);

}  // namespace byre::inline v0::detail
