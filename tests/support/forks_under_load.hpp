// SPDX-License-Identifier: BSL-1.0
/// forks_under_load(): one thread forks while other threads use byre.
#pragma once

#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/emulated.hpp"
#include "support/sanitized.hpp"

namespace byre::test {

/// The factor by which BYRE_FORKS in the environment multiplies the number of forks.
inline std::size_t fork_count_factor() {
  const char* const times = std::getenv("BYRE_FORKS");
  return times == nullptr ? 1 : std::stoul(times);
}

/// Forks `forks` times, or an eighth of that under a sanitizer. Four threads repeatedly call
/// `use(turn, clone)` with increasing turns. `clone` is a lazy clone of data that all of them
/// share. Each child calls `use` with the turns 0 to 11 and exits. If the heap is unusable in a
/// child, the child exits at once.
inline void forks_under_load(std::size_t forks, FunctionRef<void(std::size_t, Buffer&)> use) {
  if (is_emulated()) {
    GTEST_SKIP() << "this emulator is not safe across forks";
  }
  constexpr std::size_t child_turns = 12;
  constexpr unsigned patience_seconds = 60;
  const Buffer shared = Buffer::allocate(100'000);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> busy;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    busy.emplace_back([&, thread, own = shared]() mutable {
      for (std::size_t turn = thread; !is_over; ++turn) {
        use(turn, own);
        own = shared;
      }
    });
  }
  for (std::size_t number = 0; number < fewer_if_sanitized(forks) * fork_count_factor(); ++number) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(patience_seconds);
      if (!heap_outlives_forks) {
        ::_exit(EXIT_SUCCESS);
      }
      Buffer own = shared;
      for (std::size_t turn = 0; turn < child_turns; ++turn) {
        use(turn, own);
      }
      ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (status != 0) {
      ADD_FAILURE() << "child " << number << ": " << Exit(status).text();
      break;
    }
  }
  is_over = true;
  join(busy);
}

}  // namespace byre::test
