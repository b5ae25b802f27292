// SPDX-License-Identifier: BSL-1.0
/// Functions that the sources of POSIX share, and functions that they call in a source of Linux or
/// of other systems.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/memory.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::system {

/// The argument of mmap() and mprotect().
int protection_of(Access access) noexcept;

/// The bytes of the machine's memory, which may be more than a process can address.
std::uint64_t physical_nbytes() noexcept;

// ---- Defined in linux/, or in posix/without_linux.cpp: steps of replacing a file.

/// Opens a folder that the process may write but not read. May fail with EACCES.
byre::detail::Descriptor open_unreadable_folder(const char* path) noexcept;

/// Writes the file system that contains `file` to disk. Returns false after a failure.
bool sync_file_system(int file) noexcept;

}  // namespace byre::inline BYRE_ABI::system
