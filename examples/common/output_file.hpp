// SPDX-License-Identifier: BSL-1.0
/// A file that appears under its name complete or not at all: it is written under a temporary name
/// and renamed. Every step that can fail is checked, since disks fill up.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>

namespace examples {

/// Readers never see half a file. (Surviving a power failure would take an fsync more, which is
/// left out: these files are not kept.) One thread.
class OutputFile {
 public:
  /// Creates the file under its temporary name. Throws Failure.
  explicit OutputFile(std::filesystem::path path);

  /// Removes the temporary file, unless commit() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Failure.
  void write(const void* data, std::size_t nbytes);

  /// Gives the file its name, in place of one that has it. Throws Failure.
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_;
  bool committed_ = false;
};

}  // namespace examples
