// SPDX-License-Identifier: BSL-1.0
/// A file that is read into memory of one's own. Unlike a mapped one it may be cut short meanwhile,
/// or its disk may fail: that is an error then.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>

namespace byre::inline v0::detail {

struct OpenedFile {
  Descriptor descriptor;
  std::size_t nbytes = 0;
};

/// Opens a file to "read" or "map" it, as `operation` says. Throws FileError if it is missing, not a regular
/// file, unreadable or too large for an object, OutOfMemory.
OpenedFile open_regular_file(const FileName& name, const char* operation);

/// Throws FileError, or OutOfMemory if `error` says that the system had no memory.
[[noreturn]] void throw_file_error(const FileName& name, const char* operation, int error,
                              const char* advice);
[[noreturn]] void throw_file_error(const FileName& name, const char* operation, const char* why,
                              const char* advice);

/// One thread.
class BYRE_API InputFile {
 public:
  /// Refers to `name`, which messages cite. Throws as open_regular_file() does.
  explicit InputFile(FileName name);

  std::size_t nbytes() const noexcept { return file_.nbytes; }

  /// Reads the `nbytes` that follow those read before. Throws FileError if they are not there, or if code
  /// elsewhere closed the file; OutOfMemory.
  void read(void* destination, std::size_t nbytes);
  /// What is read next.
  void seek(std::size_t offset) noexcept { offset_ = offset; }

 private:
  FileName name_;
  OpenedFile file_;
  std::size_t offset_ =
      0;  // and not the system's, which other users of a duplicated number could move
};

}  // namespace byre::inline v0::detail
