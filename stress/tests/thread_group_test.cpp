// SPDX-License-Identifier: BSL-1.0
#include "../thread_group.hpp"

#include <gtest/gtest.h>

#include <boost/atomic/atomic.hpp>
#include <stdexcept>
#include <thread>

namespace byre::stress {
namespace {

TEST(ThreadGroup, has_ended_when_an_exception_leaves_its_scope) {
  boost::atomic<bool> stopped{false};
  boost::atomic<int> ended{0};
  const auto go_wrong = [&] {
    ThreadGroup group([&] { stopped.store(true); });
    for (int count = 0; count < 3; ++count) {
      group.start([&] {
        while (!stopped.load()) {
          std::this_thread::yield();
        }
        ended.fetch_add(1);
      });
    }
    throw std::runtime_error("no more threads");
  };
  EXPECT_THROW(go_wrong(), std::runtime_error);
  EXPECT_EQ(ended.load(), 3);
  stopped.store(true);
}

}  // namespace
}  // namespace byre::stress
