// SPDX-License-Identifier: BSL-1.0
/// Pages of memory: mapping, protection, and advice. Addresses and sizes are multiples of
/// actual_page_nbytes() unless stated otherwise. All functions are thread-safe and allocate nothing
/// on the heap. memory/detail/mappings.hpp maps and unmaps at the system's limit of mappings.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::system {

enum class Access : std::uint8_t { none, read, read_write };

/// The size of the pages of this machine. page_nbytes (page_nbytes.hpp) is a multiple of it.
std::size_t actual_page_nbytes() noexcept;
/// The bytes of all pages that contain the first `nbytes` bytes of a mapping.
inline std::size_t in_whole_pages(std::size_t nbytes) noexcept {
  const std::size_t page = actual_page_nbytes();
  return (nbytes + page - 1) / page * page;
}

/// A mapping of at least the bytes that were requested. The caller unmaps the other bytes at both
/// ends. A system that cannot unmap a part of a mapping returns a mapping without other bytes.
struct AlignedMapping {
  std::byte* begin = nullptr;  ///< null if the system refused the mapping
  std::size_t nbytes = 0;
  std::byte* data = nullptr;  ///< `lead` bytes after the begin of the requested bytes
};

/// Maps `lead` + `nbytes` bytes of fresh private pages, so that the address after the first `lead`
/// bytes is a multiple of `alignment`, a power of two. With Access::none, no limit of memory counts
/// the pages.
AlignedMapping map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                           Access access) noexcept;

/// Unmaps pages. Returns false if the system refuses, as Linux does at its limit of mappings.
bool unmap(void* begin, std::size_t nbytes) noexcept;

/// Changes the access to pages. Returns false if the system refuses. Async-signal-safe.
bool protect(void* begin, std::size_t nbytes, Access access) noexcept;

/// Frees the memory of private pages. Pages without a file then read as zeros. Returns false if the
/// system refuses, as Linux does for locked pages.
bool discard(void* begin, std::size_t nbytes) noexcept;

/// Ends the effect of mlock() on pages.
void unlock(void* begin, std::size_t nbytes) noexcept;

/// Makes pages present and writable, so that no page fault follows. The range need not consist of
/// whole pages. Returns false if there is no memory for the pages. Does nothing and returns true on
/// systems that cannot populate pages.
BYRE_API bool populate(std::byte* data, std::size_t nbytes) noexcept;

/// True if the system provides huge pages on request. Cost: reads a system file.
bool grants_huge_pages() noexcept;

/// Requests huge pages. Does nothing if `nbytes` is 0, or if the system has no huge pages.
void advise_huge(std::byte* begin, std::size_t nbytes) noexcept;

/// Allows the system to reclaim the pages if it runs short of memory. Contents become
/// indeterminate. Does nothing if `nbytes` is 0.
void advise_reclaimable(std::byte* begin, std::size_t nbytes) noexcept;

/// The bytes of memory that this process may use: the minimum of the machine's memory and the
/// limits of the process's control groups; 4 GiB if unknown. Cost: may read several system files.
std::uint64_t usable_memory_nbytes() noexcept;

}  // namespace byre::inline BYRE_ABI::system
