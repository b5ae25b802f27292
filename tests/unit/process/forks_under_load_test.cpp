// SPDX-License-Identifier: BSL-1.0
/// Thousands of forks while other threads use all that a process has of the core once.
#include <byre/byre.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include "support/forks_under_load.hpp"

namespace byre::test {
namespace {

/// One of the things that take a lock of the process.
void use_the_process(std::size_t turn, Buffer& shared) {
  static constexpr std::size_t pooled = 100'000;
  switch (turn % 6) {
    case 0: {
      Buffer clone = shared;
      clone.mutable_data()[0] = std::byte{1};
      break;
    }
    case 1:
      Buffer::allocate(pooled);
      break;
    case 2:
      default_pool().trim(pooled);
      break;
    case 3: {
      RecyclingPool pool(std::size_t{1} << 20);
      Buffer::allocate(pooled, pool);
      break;
    }
    case 4: {
      const stats::InstalledSink sink([](const stats::CopyEvent&) {});
      stats::snapshot();
      break;
    }
    default:
      set_warning_handler(set_warning_handler(nullptr));
      break;
  }
}

TEST(ForksUnderLoad, of_the_core_leave_children_that_work_and_end) {
  forks_under_load(500, [](std::size_t turn, Buffer& shared) { use_the_process(turn, shared); });
}

// Locks that are held for a moment are held at most forks where threads do nothing else.

TEST(ForksUnderLoad, of_threads_that_take_snapshots) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "nothing is counted";
  }
  forks_under_load(100, [](std::size_t, Buffer&) { stats::snapshot(); });
}

TEST(ForksUnderLoad, of_threads_that_install_sinks) {
  forks_under_load(100, [](std::size_t, Buffer&) {
    const stats::InstalledSink sink([](const stats::CopyEvent&) {});
  });
}

TEST(ForksUnderLoad, of_threads_that_install_handlers_of_warnings) {
  forks_under_load(100, [](std::size_t, Buffer&) { set_warning_handler(nullptr); });
}

}  // namespace
}  // namespace byre::test
