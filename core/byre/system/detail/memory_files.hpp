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
  none,  ///< the mapping cannot be written
};

/// Maps a part of a memory file at `at`, in place of the pages that are mapped there, or at any
/// address if `at` is null. Returns null if the system refuses, or if other code has closed the
/// descriptor. In the latter case, the pages at `at` may have been replaced.
std::byte* map_memory_file(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                           Writes writes, std::byte* at) noexcept;

/// Moves a mapping in one step to `to`, in place of the pages that are mapped there. If the system
/// refuses, `from` stays mapped, but the pages at `to` may be gone.
bool move_mapping(std::byte* from, std::size_t nbytes, std::byte* to) noexcept;

/// Maps the file pages of a mapping with Writes::to_file a second time at `to`, in place of the
/// pages that are mapped there. Returns false if the system refuses.
bool duplicate_mapping(std::byte* mapping, std::size_t nbytes, std::byte* to) noexcept;

/// Replaces pages with addresses that cannot be accessed. Returns false if the system refuses.
bool make_inaccessible(std::byte* begin, std::size_t nbytes) noexcept;

/// Removes pages from children of later forks.
void keep_from_children(std::byte* begin, std::size_t nbytes) noexcept;

/// Frees pages of a memory file, through a mapping with Writes::to_file. Returns false if the
/// system refuses, as it does for locked pages.
bool free_file_pages(std::byte* begin, std::size_t nbytes) noexcept;

/// Collects the pages of a mapping in huge pages. Does nothing if the system refuses.
void collapse(std::byte* begin, std::size_t nbytes) noexcept;

// ---- Memory files that other processes map

/// Another descriptor of an open file, which closes on exec. Empty if the system refuses.
Descriptor duplicate_of(const Descriptor& file) noexcept;

/// The writers that remain after a memory file was sealed for other processes.
enum class Writers : std::uint8_t {
  mappings,  ///< mappings with Writes::to_file that exist already
  none,      ///< nothing; there must be no such mapping
};

/// Opens a memory file a second time, for other processes: only to read, and sealed, so that no
/// process can resize it, or write it except as `writers` allows. The descriptor has a lock, which
/// ends with its last duplicate and the last mapping made with it, in any process. Returns an empty
/// descriptor if the system refuses.
Descriptor open_for_others(const Descriptor& file, Writers writers) noexcept;

/// Whether a duplicate of a descriptor from open_for_others(), or a mapping made with one, exists
/// in any process or in a message. True if `file` is closed, because the answer is then unknown.
bool is_open_elsewhere(const Descriptor& file) noexcept;

/// Waits until is_open_elsewhere() is false. Returns false if `file` is closed.
bool wait_until_closed_elsewhere(const Descriptor& file) noexcept;

/// Whether a file is a memory file that no process can shorten.
bool keeps_its_size(const Descriptor& file) noexcept;
/// Whether a file is a memory file that no process can change.
bool is_constant(const Descriptor& file) noexcept;

/// False for files of reserved huge pages (hugetlbfs), whose mappings are longer than requested.
bool has_ordinary_pages(const Descriptor& file) noexcept;

/// Gives a file a number that leaves most numbers to the program: one in the first quarter of those
/// that the process may open, or, if it may open many, one of as many from 1024 on, which select()
/// cannot use. Returns an empty descriptor if all of these are in use.
Descriptor with_spare_number(Descriptor file) noexcept;

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
