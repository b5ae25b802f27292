// SPDX-License-Identifier: BSL-1.0
/// Checks in a process of its own, which may set limits, use up mappings and close descriptors.
#pragma once

#include <byre/memory/pages.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "support/child_process.hpp"

namespace byre::test {

/// Runs `work` in a child. The parent fails if an expectation of the child does.
inline void in_a_child(const std::function<void()>& work) {
  const ChildResult result = run_in_child(
      [&](int) {
        work();
        ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
}

inline void set_limit(decltype(RLIMIT_AS) what, rlim_t most) {
  rlimit now{};
  ASSERT_EQ(::getrlimit(what, &now), 0);
  now.rlim_cur = most;
  ASSERT_EQ(::setrlimit(what, &now), 0);
}

/// What this process has mapped.
inline std::size_t address_space_nbytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Private memory of this process that can be written.
inline std::size_t data_nbytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) {
      return std::stoul(line.substr(sizeof "VmData:" - 1)) << 10;
    }
  }
  return 0;
}

/// 0 if a process may have so many that a test cannot use them up.
inline std::size_t most_mappings() {
  std::size_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most > 100'000 ? 0 : most;
}

/// From then on this process gets no mapping.
inline void use_up_mappings() {
  const std::size_t nbytes = most_mappings() * page_nbytes;
  void* const area =
      ::mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  // Every second page becomes a mapping of its own, until there are no more.
  for (std::size_t at = 0; at < nbytes; at += 2 * page_nbytes) {
    if (::mprotect(static_cast<std::byte*>(area) + at, page_nbytes, PROT_READ) != 0) {
      // mmap() allows one mapping more than mprotect() does.
      ASSERT_NE(::mmap(nullptr, page_nbytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                MAP_FAILED);
      return;
    }
  }
  FAIL() << "mappings are left";
}

inline constexpr int most_files = 64;

/// Closes every descriptor and gives each number to `file`, as a program does that knows nothing of byre.
inline void reuse_all_numbers(const std::filesystem::path& file) {
  for (int number = 3; number < most_files; ++number) {
    ::close(number);
  }
  while (::open(file.c_str(), O_RDWR) < most_files - 1) {
  }
}

}  // namespace byre::test
