// SPDX-License-Identifier: BSL-1.0
/// Mappings of memory at the limit of mappings. To unmap the middle of a mapping that the system has merged from
/// several takes one mapping more, so munmap() can be refused. A refused range is kept and unmapped later.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

#if BYRE_CHECKS
/// Called with each range before it is unmapped.
struct UnmapObserver {
  void (*before)(std::byte* begin, std::size_t nbytes) noexcept;
};
/// From now on, by this one. By one thread at a time.
void observe_unmaps(const UnmapObserver& observer) noexcept;
#endif

/// mmap(), once more if it fails and refused ranges could be unmapped in between. Thread-safe; not under a
/// ProcessMutex. Returns MAP_FAILED, with errno, if the system has no room.
void* map(void* at, std::size_t nbytes, int protection, int flags, int file,
          std::int64_t offset) noexcept;

/// Memory of the process's own: `nbytes` from a multiple of `alignment` on, and `lead` bytes before. Null if the
/// system has no room. As map() otherwise.
std::byte* map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                       int protection) noexcept;

/// Unmaps whole pages, which the caller uses no more. If the system refuses, their memory goes back at once, and
/// the next calls of unmap() and each map() that fails try again. Does nothing if `nbytes` is 0. Thread-safe; not
/// under a ProcessMutex.
void unmap(void* begin, std::size_t nbytes) noexcept;

}  // namespace byre::inline v0::detail
