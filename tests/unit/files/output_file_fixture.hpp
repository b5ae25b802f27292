// SPDX-License-Identifier: BSL-1.0
/// OutputFile over a disk that can fail, in a folder of its own.
#pragma once

#include <byre/files/output_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace byre::test {

namespace fs = std::filesystem;

/// What reaches the disk, in order, and what fails of it.
struct Disk {
  bool watches = false;
  std::string fails;
  int error = EIO;
  std::vector<std::string> steps;
  ::mode_t mode_before = 0;  // of the last file that was given another

  /// False if that step fails.
  bool step(const std::string& what) {
    if (watches) {
      steps.push_back(what);
    }
    if (fails == what) {
      errno = error;
    }
    return fails != what;
  }
};
extern Disk disk;

/// Of the next call by this thread.
extern constinit thread_local bool is_interrupted;
extern constinit thread_local bool is_short;
extern constinit thread_local bool close_fails;
/// The function of the system that finds no memory, as "open", when this thread next calls it.
extern constinit thread_local const char* has_no_memory;
/// What another thread prints to a standard stream whose number a file of this thread gets when it is made.
extern constinit thread_local const char* printed_into_new_files;

class OutputFileTest : public testing::Test {
 protected:
  ~OutputFileTest() override { disk = {}; }

  void save(const fs::path& to, const std::string& text) {
    OutputFile file(to);
    file.write(text.data(), text.size());
    file.commit();
  }

  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder.path()), {}); }

  /// An open file that was not there when this test began.
  bool is_new(int number) const { return !before_[static_cast<std::size_t>(number)]; }

  const TemporaryFolder folder;
  const fs::path path = folder / "file";

 private:
  const std::array<bool, 1000> before_ = [] {
    std::array<bool, 1000> open{};
    for (std::size_t number = 0; number < open.size(); ++number) {
      open[number] = ::fcntl(static_cast<int>(number), F_GETFD) >= 0;
    }
    return open;
  }();
};

}  // namespace byre::test
