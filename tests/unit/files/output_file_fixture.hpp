// SPDX-License-Identifier: BSL-1.0
/// OutputFileTest: a fixture that replaces functions of the C library, so that writing a file can
/// fail at each step.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "output_folder.hpp"

namespace byre::test {

/// Records the steps in which a file reaches the disk, and makes one step fail.
struct Disk {
  bool watches = false;  // whether steps are recorded
  std::string fails;     // the step that fails
  int error = EIO;       // the errno of that step
  std::vector<std::string> steps;
  ::mode_t mode_before = 0;  // the mode of a file before the last fchmod()

  /// Returns false if the step fails.
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

// Each variable affects the next call of the named function by this thread.
/// write(), pwrite() or pread() fails with EINTR.
extern constinit thread_local bool is_interrupted;
extern constinit thread_local bool is_short;  ///< write() or pwrite() writes half of the bytes
extern constinit thread_local bool close_fails;
/// The name of a function, such as "open". Its next call by this thread fails with ENOMEM.
extern constinit thread_local const char* has_no_memory;
/// Text that is written into each new file of this thread right after the file is opened, as if
/// another thread printed the text to a standard stream with the number of the file.
extern constinit thread_local const char* printed_into_new_files;

class OutputFileTest : public OutputFiles {
 protected:
  ~OutputFileTest() override { disk = {}; }

  /// Whether descriptor `number` was free when this test began.
  bool is_new(int number) const { return !before_[static_cast<std::size_t>(number)]; }

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
