// SPDX-License-Identifier: BSL-1.0
/// Files without names, whose pages are in memory. Only systems that have them define these
/// functions, and only sources for these systems call them; pages/meson.build lists the sources.
/// Addresses, offsets and sizes are multiples of actual_page_nbytes().
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::system {

using byre::detail::Descriptor;

/// Creates a memory file of `nbytes` bytes, which use no memory until they are touched. Returns an
/// empty descriptor if the system lacks memory files, or if the process's limit of file sizes is
/// smaller: writing beyond that limit would end the process.
Descriptor create_memory_file(std::int64_t nbytes) noexcept;

/// Where writes to a mapping are visible.
enum class Writes : std::uint8_t {
  to_file,  ///< in the file, and in all mappings of it
  private_to_mapping,
};

/// Maps a part of a memory file at `at`, in place of the pages that are mapped there, or at any
/// address if `at` is null. Returns null if the system refuses, or if other code has closed the
/// descriptor. In the latter case, the pages at `at` may have been replaced.
std::byte* map_memory_file(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                           Writes writes, std::byte* at) noexcept;

/// Moves a mapping in one step to `to`, in place of the pages that are mapped there. If the system
/// refuses, `from` stays mapped, but the pages at `to` may be gone.
bool move_mapping(std::byte* from, std::size_t nbytes, std::byte* to) noexcept;

/// Replaces pages with addresses that cannot be accessed. Returns false if the system refuses.
bool make_inaccessible(std::byte* begin, std::size_t nbytes) noexcept;

/// Frees pages of a memory file, through a mapping with Writes::to_file. Returns false if the
/// system refuses, as it does for locked pages.
bool free_file_pages(std::byte* begin, std::size_t nbytes) noexcept;

/// Collects the pages of a mapping in huge pages. Does nothing if the system refuses.
void collapse(std::byte* begin, std::size_t nbytes) noexcept;

/// A pipe. Both descriptors are empty if the system refuses.
struct Pipe {
  Descriptor reads;
  Descriptor writes;
};
Pipe create_pipe() noexcept;
/// Waits until all processes have closed the write end of a pipe. Returns at once if `reads` is
/// closed.
void wait_for_end(const Descriptor& reads) noexcept;

}  // namespace byre::inline BYRE_ABI::system
