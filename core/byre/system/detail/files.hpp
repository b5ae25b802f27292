// SPDX-License-Identifier: BSL-1.0
/// Files that are read or mapped. After a failure, last_error() returns the reason. Names are in
/// UTF-8 on systems that know the encoding of names. All functions are thread-safe.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace byre::inline BYRE_ABI::system {

using byre::detail::Descriptor;

/// Opens a file to read it. Does not wait if the name denotes a pipe. Returns an empty descriptor
/// if the file cannot be opened.
Descriptor open_to_read(const char* name) noexcept;

struct FileStatus {
  bool is_regular = false;
  std::uint64_t nbytes = 0;
};

/// Returns nullopt if the system refuses, or if the descriptor is closed.
std::optional<FileStatus> status_of(const Descriptor& file) noexcept;

/// Reads up to `nbytes` bytes at an offset. Returns the number of bytes; 0 at the end of the file,
/// or -1 after a failure.
std::ptrdiff_t read_at(const Descriptor& file, void* destination, std::size_t nbytes,
                       std::uint64_t offset) noexcept;

/// Maps the first `nbytes` of a file privately: writes to the mapping do not change the file. The
/// memory of written pages is not reserved in advance. Returns null if the system refuses; the
/// reason is std::errc::not_enough_memory if any limit of memory or mappings is reached.
std::byte* map_privately(const Descriptor& file, std::size_t nbytes, Access access) noexcept;

struct FreeName {
  void operator()(char* name) const noexcept { std::free(name); }
};
/// A name of a file, in memory from malloc().
using OwnedName = std::unique_ptr<char, FreeName>;

/// The absolute name of an existing file, without symbolic links, or null after a failure.
OwnedName absolute_name(const char* name) noexcept;

}  // namespace byre::inline BYRE_ABI::system
