// SPDX-License-Identifier: BSL-1.0
/// Waits of byre are no interruption points of Boost.Thread. Compiled for sync::Default only.
#include <byre/cow/share_word.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/parking_lot.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <boost/thread/thread.hpp>
#include <functional>
#include <optional>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using AddressLock = sync::detail::AddressLock<sync::Default>;

/// Interrupts a thread that calls `wait()`, and expects that the wait goes on until `end_wait()`.
void interrupt(const std::function<void()>& wait, const std::function<void()>& await_wait,
               const std::function<void()>& end_wait) {
  std::atomic<bool> is_waiting{false};
  std::atomic<bool> returned{false};
  bool interruption_pending = false;
  boost::thread waiter([&] {
    is_waiting = true;
    wait();
    returned = true;
    interruption_pending = boost::this_thread::interruption_requested();
  });
  await([&] { return is_waiting.load(); });
  await_wait();
  waiter.interrupt();
  for (int i = 0; i < 1000; ++i) {
    boost::this_thread::yield();
    ASSERT_FALSE(returned);
  }
  end_wait();
  waiter.join();
  EXPECT_TRUE(interruption_pending) << "expected the interruption to remain pending for the user";
}

TEST(Interruption, does_not_end_a_wait_in_the_parking_lot) {
  std::atomic<bool> is_up{false};
  std::atomic<bool> has_looked{false};
  const auto keep_waiting = [&] {
    has_looked = true;
    return !is_up;
  };
  interrupt(
      [&] {
        while (!is_up) {
          sync::detail::park(&is_up, keep_waiting);
        }
      },
      [&] { await([&] { return has_looked.load(); }); },
      [&] {
        is_up = true;
        sync::detail::unpark_all(&is_up);
      });
}

TEST(Interruption, does_not_end_a_wait_for_an_address_lock) {
  int address = 0;
  std::optional<AddressLock> held(std::in_place, &address);
  interrupt([&] { const AddressLock lock(&address); }, [] {}, [&] { held.reset(); });
}

TEST(Interruption, does_not_end_a_claim) {
  ShareWord word;
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  Claim answer{};
  interrupt([&] { answer = word.claim(); }, [] {}, [&] { EXPECT_FALSE(word.finish_copy()); });
  EXPECT_EQ(answer, Claim::steal);
}

}  // namespace
}  // namespace byre::test
