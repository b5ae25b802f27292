// SPDX-License-Identifier: BSL-1.0
/// What malloc has given out.
#pragma once

#include <cstdlib>
#include <optional>

#include "support/sanitized.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace byre::test {

/// Bytes of malloc's that are in use, by all threads; none where it does not tell, or is a sanitizer's.
inline std::optional<std::size_t> heap_nbytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  if (!is_sanitized) {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  }
#endif
  return std::nullopt;
}

}  // namespace byre::test
