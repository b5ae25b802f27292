// SPDX-License-Identifier: BSL-1.0
/// Many forks while other threads use every lock of the process that the core contains.
#include <byre/byre.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include "support/forks_under_load.hpp"

namespace byre::test {
namespace {

/// Runs one of six operations that take a lock of the process.
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

TEST(ForksUnderLoad, leave_working_children_while_threads_use_the_core) {
  forks_under_load(100, [](std::size_t turn, Buffer& shared) { use_the_process(turn, shared); });
}

// In the tests below, threads repeat one operation, so that most forks occur while a thread holds
// the lock of that operation.

TEST(ForksUnderLoad, leave_working_children_while_threads_take_snapshots) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  forks_under_load(20, [](std::size_t, Buffer&) { stats::snapshot(); });
}

TEST(ForksUnderLoad, leave_working_children_while_threads_install_sinks) {
  forks_under_load(20, [](std::size_t, Buffer&) {
    const stats::InstalledSink sink([](const stats::CopyEvent&) {});
  });
}

TEST(ForksUnderLoad, leave_working_children_while_warning_handlers_change) {
  forks_under_load(20, [](std::size_t, Buffer&) { set_warning_handler(nullptr); });
}

}  // namespace
}  // namespace byre::test
