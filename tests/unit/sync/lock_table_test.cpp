// SPDX-License-Identifier: BSL-1.0
/// Locks by address. A lock that is never released makes its test hang.
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using Lock = sync::detail::AddressLock<sync::Default>;

/// Up to `count` addresses in `bytes` that share one of 64 buckets.
std::vector<const void*> bucket_sharers(const std::vector<std::byte>& bytes, std::size_t count) {
  std::vector<const void*> found;
  for (const std::byte& at : bytes) {
    if (found.size() < count &&
        sync::detail::bucket_of<6>(&at) == sync::detail::bucket_of<6>(bytes.data())) {
      found.push_back(&at);
    }
  }
  return found;
}

TEST(AddressLock, the_lock_is_not_acquired_if_is_done_returns_true) {
  int address = 0;
  const Lock done(&address, [] { return true; });
  EXPECT_FALSE(done.is_held());
  on_another_thread([&] {
    const Lock lock(&address, [] { return false; });
    EXPECT_TRUE(lock.is_held());
  });
}

TEST(AddressLock, is_done_observes_earlier_writes_so_one_thread_does_the_work) {
  constexpr std::size_t threads = 4;
  int work_left = 0;  // not atomic: changes under the lock happen before is_done() reads them
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

TEST(AddressLock, the_lock_is_free_after_the_predicate_throws) {
  int address = 0;
  const auto throws = []() -> bool { throw std::runtime_error("is_done failed"); };
  EXPECT_THROW(const Lock lock(&address, throws), std::runtime_error);
  on_another_thread([&] { const Lock lock(&address); });
}

TEST(AddressLock, does_not_lock_other_addresses_in_its_bucket) {
  const std::vector<std::byte> bytes(4096);
  const auto addresses = bucket_sharers(bytes, 3);
  ASSERT_EQ(addresses.size(), 3U);
  // One thread holds several locks, and releases them in any order.
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
        std::atomic<bool> got{false};
        std::thread other([&] {
          const Lock lock(addresses[i]);
          got = true;
        });
        for (int turn = 0; turn < 200; ++turn) {
          std::this_thread::yield();
          EXPECT_FALSE(got);
        }
        locks[i].reset();  // wakes `other`, although other threads may wait in the bucket
        other.join();
      }
    }
  }
}

TEST(AddressLock, unlock_wakes_waiters_although_others_use_the_bucket) {
  const std::vector<std::byte> bytes(4096);
  const auto addresses = bucket_sharers(bytes, 2);
  ASSERT_EQ(addresses.size(), 2U);
  std::optional<Lock> first_lock(std::in_place, addresses[0]);
  std::optional<Lock> second_lock(std::in_place, addresses[1]);
  std::atomic<int> waiters{0};
  const auto wait_for = [&](const void* address) {
    ++waiters;
    const Lock lock(address);
  };
  std::thread first([&] { wait_for(addresses[0]); });
  std::thread second([&] { wait_for(addresses[1]); });
  await([&] { return waiters == 2; });
  second_lock.reset();
  second.join();  // while `first` still waits
  first_lock.reset();
  first.join();
}

// The mutexes are locked only in the child of the death test: the fork would wait for a
// ProcessMutex that the parent holds.
TEST(ProcessMutexDeathTest, locking_a_second_mutex_in_one_thread_ends_the_program) {
  sync::ProcessMutex first;
  sync::ProcessMutex second;
  EXPECT_DEATH((first.lock(), second.lock()), "cannot lock a second ProcessMutex");
}

TEST(ProcessMutexDeathTest, a_first_use_while_holding_a_mutex_ends_the_program) {
  sync::ProcessMutex mutex;
  EXPECT_DEATH((mutex.lock(), sync::detail::FirstUse()), "this thread holds a ProcessMutex");
}

}  // namespace
}  // namespace byre::test
