// SPDX-License-Identifier: BSL-1.0
/// heap_nbytes(): the memory that malloc has allocated.
#pragma once

#include <cstdlib>
#include <optional>

#include "support/sanitized.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace byre::test {

/// The number of bytes that all threads have allocated by malloc. Empty if the C library does not
/// report it, or if a sanitizer replaces malloc.
inline std::optional<std::size_t> heap_nbytes() {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
  if (!is_sanitized) {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  }
#endif
#endif
  return std::nullopt;
}

}  // namespace byre::test
