// SPDX-License-Identifier: BSL-1.0
/// A file that appears under its name complete or not at all: it is written under another name
/// beside it and renamed, so that a failure leaves what was there.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>

namespace byre::inline v0::detail {

/// Readers never see half a file; who mapped the one it replaces keeps that. It has the permissions
/// of that one, and takes the place of what a symbolic link leads to, not of the link. It is not
/// flushed to the disk, and need not survive a power failure. One thread.
class BYRE_API OutputFile {
 public:
  /// Throws FileError if a file cannot be created beside `path`.
  explicit OutputFile(const std::filesystem::path& path);
  /// Removes what was written, unless commit() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError.
  void write(const void* data, std::size_t nbytes);
  /// Gives the file its name, in place of one that has it. Throws FileError.
  void commit();

 private:
  void discard() noexcept;
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_ = nullptr;
  bool is_committed_ = false;
};

}  // namespace byre::inline v0::detail
