// SPDX-License-Identifier: BSL-1.0
/// Helpers for checks in a child process, which may set limits, use up mappings and close
/// descriptors.
#pragma once

#include <byre/memory/pages.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "support/child_process.hpp"
#include "support/open_files.hpp"

namespace byre::test {

/// Runs `work` in a child process. The test fails if an expectation in the child fails.
inline void in_a_child(const std::function<void()>& work) {
  const ChildResult result = run_in_child(
      [&](int) {
        work();
        ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
}

#if defined(_WIN32)

/// Skips the test.
struct LateChild {
  explicit LateChild(const std::function<bool()>& /*is_right*/) {
    in_a_child([] {});
  }
  void expect_right() const {}
};

#else

/// Sets this process's limit `what` to `most`. Returns the former limit.
inline rlim_t set_limit(decltype(RLIMIT_AS) what, rlim_t most) {
  rlimit now{};
  EXPECT_EQ(::getrlimit(what, &now), 0);
  const rlim_t before = std::exchange(now.rlim_cur, most);
  EXPECT_EQ(::setrlimit(what, &now), 0);
  return before;
}

/// A child process that checks its memory when its parent calls expect_right().
class LateChild {
 public:
  /// Forks. The child waits for expect_right(), and then fails if `is_right()` is false.
  explicit LateChild(const std::function<bool()>& is_right) {
    EXPECT_EQ(::pipe(told_), 0);
    child_ = ::fork();
    if (child_ == 0) {
      char any = 0;
      const bool is_told = ::read(told_[0], &any, 1) == 1;
      ::_exit(is_told && is_right() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
  }
  void expect_right() const {
    EXPECT_EQ(::write(told_[1], "x", 1), 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_EQ(status, 0);
    ::close(told_[0]);
    ::close(told_[1]);
  }

 private:
  int told_[2] = {-1, -1};
  pid_t child_ = -1;
};

/// The line of /proc/self/smaps that begins with `field`, for the mapping at `begin`; "" if not
/// found.
inline std::string mapping_field(const std::byte* begin, const std::string& field) {
  std::ostringstream address;
  address << std::hex << reinterpret_cast<std::uintptr_t>(begin) << '-';
  std::ifstream mappings("/proc/self/smaps");
  bool is_found = false;
  for (std::string line; std::getline(mappings, line);) {
    is_found = is_found || line.starts_with(address.str());
    if (is_found && line.starts_with(field)) {
      return line.substr(field.size());
    }
  }
  return "";
}

/// The memory that an open file uses.
inline std::size_t memory_nbytes(int number) {
  struct ::stat about {};
  return ::fstat(number, &about) == 0 ? static_cast<std::size_t>(about.st_blocks) * 512 : 0;
}

/// The size of this process's address space in use.
inline std::size_t address_space_nbytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// The private writable memory of this process.
inline std::size_t data_nbytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) {
      return std::stoul(line.substr(sizeof "VmData:" - 1)) << 10;
    }
  }
  return 0;
}

/// The limit of mappings, or 0 if it is too high to be used up in a test.
inline std::size_t most_mappings() {
  std::size_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most > 2'000'000 ? 0 : most;
}

/// Uses up all mappings: this process cannot map anything afterwards.
inline void use_up_mappings() {
  const std::size_t nbytes = most_mappings() * page_nbytes;
  void* const area =
      ::mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  // Changes the protection of every second page, which splits the mapping, until the system
  // refuses.
  for (std::size_t at = 0; at < nbytes; at += 2 * page_nbytes) {
    if (::mprotect(static_cast<std::byte*>(area) + at, page_nbytes, PROT_READ) != 0) {
      // mmap() allows one mapping more than mprotect() does.
      ASSERT_NE(::mmap(nullptr, page_nbytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                MAP_FAILED);
      return;
    }
  }
  FAIL() << "the system refused no mapping";
}

inline constexpr int most_files = 64;

/// Closes all descriptors and opens `file` under each number, also under high numbers of memory
/// files. Code that does not know about byre's descriptors may do this.
inline void reuse_all_numbers(const std::filesystem::path& file) {
  const auto before = open_files();
  for (int number = 3; number < most_files; ++number) {
    ::close(number);
  }
  while (::open(file.c_str(), O_RDWR) < most_files - 1) {
  }
  for (const auto& [number, name] : before) {
    if (number >= most_files && is_memory_file(name)) {
      ::dup2(most_files - 1, number);
    }
  }
}

#endif

}  // namespace byre::test
