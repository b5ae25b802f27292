// SPDX-License-Identifier: BSL-1.0
/// Mapping and unmapping at the system's limit of mappings, and pages that a forked process loses.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/memory.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

/// True if the system provides huge pages on request. Reads the system's setting once.
bool grants_huge_pages() noexcept;

namespace detail {

// ---- Mapping and unmapping at the system's limit of mappings. The system merges adjacent
// mappings, and unmapping the middle of a merged mapping needs one mapping more, so munmap() can be
// refused. byre records a refused range and unmaps it later.

#if BYRE_CHECKS
/// Called with each range before it is unmapped.
struct UnmapObserver {
  void (*before)(std::byte* begin, std::size_t nbytes) noexcept;
};
/// Installs the observer for all later calls of unmap(). Only one thread at a time may call this.
void observe_unmaps(const UnmapObserver& observer) noexcept;
#endif

// The functions that map pages try again if the system refuses, and refused ranges can be unmapped
// now. They are thread-safe, and must not be called under a ProcessMutex.

/// Maps `lead` + `nbytes` bytes of fresh private pages. Returns the address after the first `lead`
/// bytes, aligned to `alignment`, or null if the system refuses.
std::byte* map_pages(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                     system::Access access) noexcept;

/// Maps a file as system::map_privately() does.
std::byte* map_file_pages(const Descriptor& file, std::size_t nbytes,
                          system::Access access) noexcept;

/// Unmaps whole pages. Requires that the caller does not use them any more. If the system refuses,
/// frees their memory immediately; later calls of unmap(), and of map() that fail, try again to
/// unmap them. Does nothing if `nbytes` is 0. Preserves errno. Thread-safe. Must not be called
/// under a ProcessMutex.
void unmap(void* begin, std::size_t nbytes) noexcept;

// ---- Lost pages. If the system refuses the parent of a fork a private mapping of shared pages,
// writes of the parent and of the child would go to the same pages. So the child copies the pages,
// or loses access to them.

/// Called in the child, before it has a second thread. Removes the mapping and reserves its
/// addresses permanently. The first access to them ends the process with a message. Does not throw.
void lose_pages(std::byte* data, std::size_t nbytes) noexcept;

/// True if this process lost the page at `address`; its protection must not be changed.
/// Async-signal-safe.
bool is_lost(const void* address) noexcept;

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
