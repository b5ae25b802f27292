// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/memory.hpp>

#include <sys/mman.h>

namespace byre::inline BYRE_ABI::system {

/// Fresh pages replace the pages, because no call of POSIX frees the memory of pages.
bool discard(void* begin, std::size_t nbytes) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return ::mmap(begin, nbytes, PROT_READ | PROT_WRITE, flags, -1, 0) == begin;
}

}  // namespace byre::inline BYRE_ABI::system
