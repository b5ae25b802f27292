// SPDX-License-Identifier: BSL-1.0
/// A file that is read into memory of one's own. Unlike a mapped one it may be cut short meanwhile,
/// or its disk may fail: that is an error then.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>

namespace byre::inline v0::detail {

/// One thread.
class BYRE_API InputFile {
 public:
  /// Throws FileError if the file is missing, not a regular file or unreadable.
  explicit InputFile(std::filesystem::path path);
  ~InputFile() { std::fclose(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::size_t nbytes() const noexcept { return nbytes_; }

  /// Reads the `nbytes` that follow those read before. Throws FileError if they are not there.
  void read(void* destination, std::size_t nbytes);
  /// What is read next.
  void seek(std::size_t offset);

 private:
  [[noreturn]] void refuse(const char* why, const char* advice) const;

  std::filesystem::path path_;
  std::FILE* file_;
  std::size_t nbytes_;
};

}  // namespace byre::inline v0::detail
