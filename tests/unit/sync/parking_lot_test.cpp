// SPDX-License-Identifier: BSL-1.0
/// The parking lot. A lost wake-up makes its test hang.
#include <byre/memory/pages.hpp>
#include <byre/sync/detail/parking_lot.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/protected_pages.hpp"

namespace byre::test {
namespace {

using sync::detail::park;
using sync::detail::unpark_all;

/// A flag on which waiters park. All its orders are relaxed, so that only the parking lot prevents
/// lost wake-ups.
struct Flag {
  std::atomic<bool> up{false};
  std::atomic<bool> looked{false};  ///< set by a waiter under the bucket lock

  void raise(const void* address) {
    up.store(true, std::memory_order_relaxed);
    unpark_all(address);
  }
  void await(const void* address) {
    const auto still_down = [this] {
      looked.store(true, std::memory_order_relaxed);
      return !up.load(std::memory_order_relaxed);
    };
    while (!up.load(std::memory_order_relaxed)) {
      park(address, still_down);
    }
  }
  /// If a thread acquires the lock of the waiter's bucket after this call, the waiter is asleep.
  void await_waiter() const {
    test::await([this] { return looked.load(); });
  }
};

TEST(ParkingLot, park_returns_at_once_if_its_condition_is_false) {
  int looks = 0;
  const auto is_false = [&looks] {
    ++looks;
    return false;
  };
  park(&looks, is_false);
  EXPECT_EQ(looks, 1);
}

TEST(ParkingLot, wakes_every_thread_parked_at_the_address) {
  int address = 0;
  std::atomic<int> looked{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const auto always = [&looked] {
        ++looked;
        return true;
      };
      park(&address, always);
    });
  }
  await([&] { return looked == 8; });
  unpark_all(&address);
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
}

TEST(ParkingLot, unpark_without_parked_threads_does_nothing) {
  int address = 0;
  unpark_all(&address);
  unpark_all(nullptr);
}

TEST(ParkingLot, wakes_waiters_of_more_addresses_than_buckets) {
  // 100 addresses in 64 buckets: some share a bucket, and wake each other spuriously.
  constexpr std::size_t count = 100;
  std::vector<Flag> flags(count);
  std::vector<std::thread> waiters;
  for (Flag& flag : flags) {
    waiters.emplace_back([&flag] { flag.await(&flag); });
    flag.await_waiter();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = i * 37 % count;
    flags[next].raise(&flags[next]);
    waiters[next].join();  // ends although the others still wait
  }
}

TEST(ParkingLot, a_wake_up_concurrent_with_a_sleep_is_not_lost) {
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

TEST(ParkingLot, a_wake_up_between_the_check_and_the_sleep_is_not_lost) {
  int address = 0;
  std::atomic<bool> looked{false};
  std::atomic<bool> unparked{false};
  std::thread waiter([&] {
    const auto lingers = [&] {
      looked = true;
      // If unpark_all() did not wait for the sleep, it would return during this loop, and the
      // wake-up would be lost.
      for (int i = 0; i < 10000 && !unparked; ++i) {
        std::this_thread::yield();
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

TEST(ParkingLot, never_accesses_the_memory_at_the_address) {
  void* const page = map_pages(page_nbytes);
  set_access(page, page_nbytes, false);
  Flag flag;
  std::thread waiter([&] { flag.await(page); });
  flag.await_waiter();
  flag.raise(page);
  waiter.join();
  unmap_pages(page, page_nbytes);
  unpark_all(page);  // `page` is unmapped by now
}

}  // namespace
}  // namespace byre::test
