// SPDX-License-Identifier: BSL-1.0
/// ReplacedFile: the steps of the system in which OutputFile (files/output_file.hpp) replaces a
/// file durably. OutputFile documents what the steps guarantee, and writes the texts of errors.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace byre::inline BYRE_ABI::system {

/// For one thread at a time. Call open(), then write() any number of times, then commit(). After an
/// error, only discard() may be called. The functions return the reason of a failure.
class ReplacedFile {
 public:
  /// Opens a temporary file in the folder of the file that `name` denotes. Opens the file itself if
  /// it is a device, a pipe, or an open file of the process. Throws std::bad_alloc.
  std::error_code open(const char* name);

  /// Appends all bytes. Fails with std::errc::bad_file_descriptor if other code closed the file.
  std::error_code write(const void* data, std::size_t nbytes) noexcept;

  /// Writes all bytes at `offset`. Several threads may call it at once. Afterwards write() must not
  /// be called. Requires !is_in_place(). Fails as write() does.
  std::error_code write_at(std::uint64_t offset, const void* data,
                           std::size_t nbytes) const noexcept;

  /// Writes the temporary file to disk and gives it the name of the old file. is_renamed() tells
  /// whether the old file was replaced; if it was, a failure concerns only the disk.
  std::error_code commit() noexcept;

  /// Closes the file, and removes the temporary file unless it was renamed. Returns the reason if
  /// it cannot be removed.
  std::error_code discard() noexcept;

  /// Whether the file itself is open, and not a temporary file.
  bool is_in_place() const noexcept { return file_ && !folder_; }
  bool is_renamed() const noexcept { return is_renamed_; }
  const std::string& folder_name() const noexcept { return folder_name_; }
  const std::string& temporary_name() const noexcept { return temporary_name_; }

 private:
  std::error_code open_temporary();
  void reopen_folder() noexcept;

  std::string base_name_;  // in the folder, after links are resolved
  std::string temporary_name_;
  std::string folder_name_;
  byre::detail::Descriptor folder_;
  byre::detail::Descriptor file_;
  bool is_renamed_ = false;
};

}  // namespace byre::inline BYRE_ABI::system
