// SPDX-License-Identifier: BSL-1.0
/// Files with content to be mapped, in a temporary folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "../content/content.hpp"
#include "support/temporary_folder.hpp"

namespace byre::stress {

/// Throws std::system_error.
void write_content_file(const std::filesystem::path& path, std::size_t nbytes, Content content);

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
  test::TemporaryFolder folder_;
  std::vector<File> files_;
};

}  // namespace byre::stress
