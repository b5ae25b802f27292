// SPDX-License-Identifier: BSL-1.0
/// A new directory for temporary files, `PROGRAM.XXXXXX`. The destructor removes it with its
/// contents.
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
      throw Failure("Cannot create a temporary directory. Set TMPDIR to a writable directory.");
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
