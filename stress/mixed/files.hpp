// SPDX-License-Identifier: BSL-1.0
/// Files with content to be mapped, in a folder of their own that is removed in the end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "../content/content.hpp"

namespace byre::stress {

/// A new folder, removed with all that is in it. Throws std::system_error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Throws std::system_error.
void write_file(const std::filesystem::path& path, std::size_t nbytes, Content content);

struct File {
  std::filesystem::path path;
  Content content;
};

/// Thread-safe once made. Throws std::system_error.
class Files {
 public:
  Files();

  const File& at(std::size_t number) const noexcept { return files_[number % files_.size()]; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::vector<File> files_;
};

/// How many mappings this process has of files in `folder`; -1 where the system does not tell. By any
/// thread; exact while nobody maps.
std::ptrdiff_t mappings_of(const std::filesystem::path& folder);

}  // namespace byre::stress
