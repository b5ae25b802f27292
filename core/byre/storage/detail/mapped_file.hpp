// SPDX-License-Identifier: BSL-1.0
/// A file mapped read-only, unmapped when it is destroyed. Where files cannot be mapped it is read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

namespace byre::inline v0::detail {

class MappedFile {
 public:
  /// Throws FileError if the file is missing, not a regular file, empty or unreadable.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), nbytes_(std::exchange(other.nbytes_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t nbytes() const noexcept { return nbytes_; }

 private:
  void* data_ = nullptr;
  std::size_t nbytes_ = 0;
};

}  // namespace byre::inline v0::detail
