// SPDX-License-Identifier: BSL-1.0
/// InputFile: a regular file that is read into memory of the caller. Unlike with a mapped file,
/// truncation of the file or failure of its disk is reported as an error.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>
#include <system_error>

namespace byre::inline BYRE_ABI::detail {

struct OpenedFile {
  Descriptor descriptor;
  std::size_t nbytes = 0;
};

/// Opens a file. `operation` ("read" or "map") is used in error texts. Throws FileError if the file
/// is missing, not a regular file, unreadable, or larger than the largest object, or OutOfMemory.
OpenedFile open_regular_file(const FileName& name, const char* operation);

/// Throws OutOfMemory if `error` is std::errc::not_enough_memory, else FileError. `operation` is
/// "read", "map" or "write".
[[noreturn]] void throw_file_error(const FileName& name, const char* operation,
                                   std::error_code error, const char* advice);
[[noreturn]] void throw_file_error(const FileName& name, const char* operation, const char* why,
                                   const char* advice);

/// For one thread at a time.
class BYRE_API InputFile {
 public:
  /// Opens the file. The object refers to `name` for error texts, so the name must outlive it.
  /// Throws the errors of open_regular_file().
  explicit InputFile(FileName name);

  std::size_t nbytes() const noexcept { return file_.nbytes; }

  /// Reads the next `nbytes` bytes. Throws FileError if the file ends earlier, if the system cannot
  /// read it, or if other code in the process closed it. Throws OutOfMemory if the system lacks
  /// memory.
  void read(void* destination, std::size_t nbytes);
  /// Sets the offset of the next read().
  void seek(std::size_t offset) noexcept { offset_ = offset; }

 private:
  FileName name_;
  OpenedFile file_;
  std::size_t offset_ = 0;  // not the system's offset, which duplicated descriptors share
};

}  // namespace byre::inline BYRE_ABI::detail
