// SPDX-License-Identifier: BSL-1.0
/// Checks in a process of its own, which may set limits and close descriptors.
#pragma once

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>

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

}  // namespace byre::test
