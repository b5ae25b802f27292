// SPDX-License-Identifier: BSL-1.0
/// Locks by address. One that is never let go shows as a test that never ends.
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>
#include <boost/atomic/atomic.hpp>
#include <boost/thread/thread.hpp>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using Lock = sync::detail::AddressLock<sync::Boost>;

/// Addresses that are in one bucket of 64, as each is of 64 bytes in a row of many.
std::vector<const void*> neighbours(const std::vector<std::byte>& room, std::size_t count) {
  std::vector<const void*> found;
  for (const std::byte& at : room) {
    if (found.size() < count &&
        sync::detail::bucket_of<6>(&at) == sync::detail::bucket_of<6>(room.data())) {
      found.push_back(&at);
    }
  }
  return found;
}

TEST(AddressLock, is_not_taken_where_nothing_is_left_to_be_done) {
  int address = 0;
  const Lock done(&address, [] { return true; });
  EXPECT_FALSE(done.is_held());
  on_another_thread([&] {  // which gets it
    const Lock lock(&address, [] { return false; });
    EXPECT_TRUE(lock.is_held());
  });
}

TEST(AddressLock, is_asked_for_by_one_thread_at_a_time_after_whoever_held_it) {
  constexpr std::size_t threads = 4;
  int work_left = 0;  // of no atomic: what is asked sees what was done under the lock
  int done = 0;
  run_rounds(
      threads, 3000, [&](std::size_t) { work_left = 1; },
      [&](std::size_t) {
        const Lock lock(&work_left, [&] { return work_left == 0; });
        if (lock.is_held()) {
          --work_left;
          ++done;
        }
      },
      [&](std::size_t round) {
        EXPECT_EQ(work_left, 0);
        EXPECT_EQ(done, static_cast<int>(round) + 1);
      });
}

TEST(AddressLock, is_free_again_after_an_exception_of_what_is_asked) {
  int address = 0;
  const auto throws = []() -> bool { throw std::runtime_error("asked too much"); };
  EXPECT_THROW(const Lock lock(&address, throws), std::runtime_error);
  on_another_thread([&] { const Lock lock(&address); });
}

TEST(AddressLock, is_of_one_address_whoever_is_in_its_bucket) {
  const std::vector<std::byte> room(4096);
  const auto addresses = neighbours(room, 3);
  ASSERT_EQ(addresses.size(), 3U);
  // Held by one thread in any order, and let go in any other.
  for (const std::size_t first : {0U, 1U, 2U}) {
    std::optional<Lock> locks[3];
    for (std::size_t i = 0; i < 3; ++i) {
      locks[i].emplace(addresses[i]);
    }
    locks[first].reset();
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == first) {
        on_another_thread([&] { const Lock lock(addresses[i]); });
      } else {
        boost::atomic<bool> got{false};
        boost::thread other([&] {
          const Lock lock(addresses[i]);
          got = true;
        });
        for (int turn = 0; turn < 200; ++turn) {
          boost::this_thread::yield();
          EXPECT_FALSE(got);
        }
        locks[i].reset();  // wakes it, and not only whoever waits for another
        other.join();
      }
    }
  }
}

TEST(AddressLock, wakes_whoever_waits_for_the_address_beside_one_that_waits_for_its_neighbour) {
  const std::vector<std::byte> room(4096);
  const auto addresses = neighbours(room, 2);
  ASSERT_EQ(addresses.size(), 2U);
  std::optional<Lock> kept(std::in_place, addresses[0]);
  std::optional<Lock> given(std::in_place, addresses[1]);
  boost::atomic<int> asking{0};
  const auto wait_for = [&](const void* address) {
    ++asking;
    const Lock lock(address);
  };
  boost::thread first([&] { wait_for(addresses[0]); });
  boost::thread second([&] { wait_for(addresses[1]); });
  await([&] { return asking == 2; });
  given.reset();
  second.join();  // while the first still waits
  kept.reset();
  first.join();
}

TEST(AddressLock, is_no_interruption_point) {
  int address = 0;
  std::optional<Lock> held(std::in_place, &address);
  boost::atomic<bool> asks{false};
  boost::atomic<bool> got{false};
  bool interruption_kept = false;
  boost::thread waiter([&] {
    asks = true;
    const Lock lock(&address);
    got = true;
    interruption_kept = boost::this_thread::interruption_requested();
  });
  await([&] { return asks.load(); });
  waiter.interrupt();
  for (int i = 0; i < 1000; ++i) {
    boost::this_thread::yield();
    ASSERT_FALSE(got);
  }
  held.reset();
  waiter.join();
  EXPECT_TRUE(interruption_kept) << "left for the user's own interruption points";
}

// Each locks in the child: a fork waits for a mutex that is held.
TEST(ProcessMutexDeathTest, two_held_at_once_end_the_program) {
  sync::ProcessMutex first;
  sync::ProcessMutex second;
  EXPECT_DEATH((first.lock(), second.lock()), "to be held at once");
}

TEST(ProcessMutexDeathTest, a_first_use_under_one_ends_the_program) {
  sync::ProcessMutex mutex;
  EXPECT_DEATH((mutex.lock(), sync::detail::FirstUse()), "a first use came under a lock");
}

}  // namespace
}  // namespace byre::test
