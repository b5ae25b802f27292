// SPDX-License-Identifier: BSL-1.0
/// A place for files that are not to be kept.
#pragma once

#include <filesystem>
#include <string>

namespace examples {

/// A new directory, `program`.XXXXXX, where temporary files go. Throws Failure; `advice` is what to
/// do where there is no such place.
std::filesystem::path create_temporary_directory(const std::string& program,
                                                 const std::string& advice = "Set TMPDIR to one.");

/// Such a directory, which is removed with all that is in it when this ends.
class TemporaryDirectory {
 public:
  TemporaryDirectory(const std::string& program, const std::string& advice = "Set TMPDIR to one.")
      : path_(create_temporary_directory(program, advice)) {}
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace examples
