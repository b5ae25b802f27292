// SPDX-License-Identifier: BSL-1.0
/// A new directory for temporary files, `PROGRAM.XXXXXX`, which is removed with all that is in it.
#pragma once

#include "failure.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace examples {

class TemporaryDirectory {
 public:
  /// Throws Failure.
  explicit TemporaryDirectory(const std::string& program) {
    std::error_code error;
    std::string name =
        (std::filesystem::temp_directory_path(error) / (program + ".XXXXXX")).string();
    if (error || mkdtemp(name.data()) == nullptr) {
      throw Failure("Cannot make a directory for temporary files. Set TMPDIR to a place for one.");
    }
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace examples
