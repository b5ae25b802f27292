// SPDX-License-Identifier: BSL-1.0
/// The list of all overlays of the process, for memory_report(): the lists of files contain only
/// overlays of memory files.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::detail {

struct ListedOverlay : ListNode {
  const void* data = nullptr;
  std::size_t nbytes = 0;
};

// Thread-safe.

/// Adds a mapped overlay.
BYRE_API void list_overlay(ListedOverlay& overlay) noexcept;
/// Removes an overlay. It is unmapped afterwards. Does nothing if it is not in the list.
BYRE_API void unlist_overlay(ListedOverlay& overlay) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
