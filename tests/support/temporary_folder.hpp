// SPDX-License-Identifier: BSL-1.0
/// A folder for the files of a test, removed when the test ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace byre::test {

class TemporaryFolder {
 public:
  /// Throws std::system_error if the folder cannot be created.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// These functions throw std::system_error if the file cannot be written or read.
void write_file(const std::filesystem::path& path, const std::string& bytes);
void write_file(const std::filesystem::path& path, const void* bytes, std::size_t nbytes);
std::string read_file(const std::filesystem::path& path);

/// The number of mappings of files in `folder` in this process; -1 if the system does not report
/// them. Thread-safe. The number is exact if no other thread maps or unmaps files during the call.
std::ptrdiff_t mappings_of(const std::filesystem::path& folder);

}  // namespace byre::test
