// SPDX-License-Identifier: BSL-1.0
/// OutputFiles: a fixture with a folder in which files are written.
#pragma once

#include <byre/files/output_file.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"

namespace byre::test {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  void save(const fs::path& to, const std::string& text) {
    OutputFile file(to);
    file.write(text.data(), text.size());
    file.commit();
  }

  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder.path()), {}); }

  const TemporaryFolder folder;
  const fs::path path = folder / "file";
};

}  // namespace byre::test
