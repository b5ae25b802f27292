// SPDX-License-Identifier: BSL-1.0
/// The parking lot. A wake-up that is lost shows as a test that never ends.
#include <byre/memory/pages.hpp>
#include <byre/sync/detail/parking_lot.hpp>

#include <gtest/gtest.h>
#include <boost/atomic/atomic.hpp>
#include <boost/thread/thread.hpp>

#include <memory>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using sync::detail::park;
using sync::detail::unpark_all;

/// A flag that its waiters park for. Relaxed throughout: the lot alone keeps the wake-ups.
struct Flag {
  boost::atomic<bool> up{false};
  boost::atomic<bool> looked{false};  ///< a waiter has looked, and sleeps before others may wake

  void raise(const void* address) {
    up.store(true, boost::memory_order_relaxed);
    unpark_all(address);
  }
  void await(const void* address) {
    const auto still_down = [this] {
      looked.store(true, boost::memory_order_relaxed);
      return !up.load(boost::memory_order_relaxed);
    };
    while (!up.load(boost::memory_order_relaxed)) {
      park(address, still_down);
    }
  }
  /// From here on, whoever passes through the lock of the lot finds the waiter asleep.
  void await_waiter() const {
    test::await([this] { return looked.load(); });
  }
};

TEST(ParkingLot, does_not_keep_a_thread_whose_condition_is_false) {
  int looks = 0;
  const auto gone = [&looks] {
    ++looks;
    return false;
  };
  park(&looks, gone);
  EXPECT_EQ(looks, 1);
}

TEST(ParkingLot, wakes_every_thread_parked_at_the_address) {
  int address = 0;
  boost::atomic<int> looked{0};
  boost::thread_group waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.create_thread([&] {
      const auto always = [&looked] {
        ++looked;
        return true;
      };
      park(&address, always);
    });
  }
  await([&] { return looked == 8; });
  unpark_all(&address);
  waiters.join_all();
}

TEST(ParkingLot, wakes_nobody_where_nobody_is_parked) {
  int address = 0;
  unpark_all(&address);
  unpark_all(nullptr);
}

TEST(ParkingLot, wakes_each_of_more_addresses_than_it_has_places) {
  // 100 addresses in 64 buckets: some share one, and wake each other for nothing.
  constexpr std::size_t count = 100;
  std::vector<Flag> flags(count);
  std::vector<boost::thread> waiters;
  for (Flag& flag : flags) {
    waiters.emplace_back([&flag] { flag.await(&flag); });
    flag.await_waiter();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = i * 37 % count;
    flags[next].raise(&flags[next]);
    waiters[next].join();  // it ends though the others still wait
  }
}

TEST(ParkingLot, loses_no_wake_up_that_races_a_sleeper) {
  constexpr std::size_t pairs = 4;
  constexpr std::size_t rounds = 2000;
  std::vector<Flag> flags(pairs * rounds);
  at_once(2 * pairs, [&](std::size_t thread) {
    const std::size_t pair = thread / 2;
    for (std::size_t round = 0; round < rounds; ++round) {
      Flag& flag = flags[round * pairs + pair];
      if ((round + thread) % 2 == 0) {
        flag.await(&flag);
      } else {
        flag.raise(&flag);
      }
    }
  });
}

TEST(ParkingLot, loses_no_wake_up_between_the_look_and_the_sleep) {
  int address = 0;
  boost::atomic<bool> looked{false};
  boost::atomic<bool> unparked{false};
  boost::thread waiter([&] {
    const auto lingers = [&] {
      looked = true;
      // A wake-up that does not wait for the sleep is over before this is, and lost.
      for (int i = 0; i < 10000 && !unparked; ++i) {
        boost::this_thread::yield();
      }
      return true;
    };
    park(&address, lingers);
  });
  await([&] { return looked.load(); });
  unpark_all(&address);
  unparked = true;
  waiter.join();
}

TEST(ParkingLot, is_no_interruption_point) {
  Flag flag;
  boost::atomic<bool> returned{false};
  bool interruption_kept = false;
  boost::thread waiter([&] {
    flag.await(&flag);
    returned = true;
    interruption_kept = boost::this_thread::interruption_requested();
  });
  flag.await_waiter();
  waiter.interrupt();
  for (int i = 0; i < 1000; ++i) {
    boost::this_thread::yield();
    ASSERT_FALSE(returned);
  }
  flag.raise(&flag);
  waiter.join();
  EXPECT_TRUE(returned);
  EXPECT_TRUE(interruption_kept) << "left for the user's own interruption points";
}

#if defined(__linux__)
TEST(ParkingLot, never_touches_what_the_address_points_to) {
  std::byte* page = system_pages().map(0, page_nbytes, page_nbytes);
  ASSERT_NE(page, nullptr);
  ASSERT_EQ(::mprotect(page, page_nbytes, PROT_NONE), 0);
  Flag flag;
  boost::thread waiter([&] { flag.await(page); });
  flag.await_waiter();
  flag.raise(page);
  waiter.join();
  system_pages().unmap(page, 0, page_nbytes);
  unpark_all(page);  // it is gone
}
#endif

}  // namespace
}  // namespace byre::test
