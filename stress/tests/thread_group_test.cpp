// SPDX-License-Identifier: BSL-1.0
#include "../thread_group.hpp"

#include <gtest/gtest.h>

#include <boost/atomic/atomic.hpp>
#include <stdexcept>

namespace byre::stress {
namespace {

TEST(ThreadGroup, is_gone_when_an_error_has_left_its_scope) {
  boost::atomic<bool> dismissed{false};
  boost::atomic<int> ended{0};
  const auto go_wrong = [&] {
    ThreadGroup group([&] { dismissed.store(true); });
    for (int count = 0; count < 3; ++count) {
      group.start([&] {
        while (!dismissed.load()) {
          boost::this_thread::yield();
        }
        ended.fetch_add(1);
      });
    }
    throw std::runtime_error("no more threads");
  };
  EXPECT_THROW(go_wrong(), std::runtime_error);
  EXPECT_EQ(ended.load(), 3);
  dismissed.store(true);
}

}  // namespace
}  // namespace byre::stress
