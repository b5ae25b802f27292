// SPDX-License-Identifier: BSL-1.0
/// Mappings of memory: at the limit of mappings, in huge pages, and over a fork.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0 {

// ---- what Linux can be told about pages; elsewhere the advice does nothing

/// Whether the system gives huge pages to those who ask. Looked up once.
bool grants_huge_pages() noexcept;

/// Asks for huge pages; 0 bytes ask for nothing.
void advise_huge(std::byte* address, std::size_t nbytes) noexcept;

/// Makes the pages present at once, which is cheaper than one by one at first touch.
void populate(std::byte* address, std::size_t nbytes) noexcept;

/// Lets the system take the pages when it runs short of memory; contents become indeterminate.
void advise_reclaimable(std::byte* address, std::size_t nbytes) noexcept;

namespace detail {

// ---- at the limit of mappings. To unmap the middle of a mapping that the system has merged from several takes one
// mapping more, so munmap() can be refused. A refused range is kept and unmapped later.

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

// ---- pages that a forked process does not get: if the parent cannot have a private mapping of them, both would write
// one memory

/// In the child, before it has a second thread: takes the mapping away, and reserves its addresses for good. The
/// first access to them ends the process with a message. Nothing throws.
void lose_pages(std::byte* data, std::size_t nbytes) noexcept;

/// Whether this process lost the page at the address, whose protection then has to stay. Async-signal-safe.
bool is_lost(const void* address) noexcept;

}  // namespace detail
}  // namespace byre::inline v0
