// SPDX-License-Identifier: BSL-1.0
/// The state of a child of a fork, if other threads of the parent were in the middle of operations.
#include <byre/byre.hpp>
#include <byre/memory/pool.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "children.hpp"
#include "support/at_once.hpp"
#include "support/emulated.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

TEST(Fork, each_process_has_a_different_number_and_can_exit) {
  const std::uint32_t number = sync::detail::process_number;
  expect_true_in_child([&] {
    const bool is_next = sync::detail::process_number == number + 1;
    expect_true_in_child([&] {
      if (sync::detail::process_number != number + 2) {
        return false;
      }
      std::exit(EXIT_SUCCESS);
    });
    return is_next && !testing::Test::HasFailure();
  });
  EXPECT_EQ(sync::detail::process_number, number);
}

TEST(Fork, a_child_writes_storages_with_versions_as_its_parent_does) {
  FailingAllocator allocator;
  Storage storage = Storage::allocate(100, allocator);
  Storage shared = Storage::allocate(100, allocator);
  const Storage clone = shared.lazy_clone();
  const std::uint64_t version = storage.version();
  shared.version();
  const auto writes = [&] {
    return storage.version() == version && storage.is_unique() &&
           storage.materialize() == Materialized::already_unique && storage.version() != version &&
           shared.materialize() == Materialized::copied && clone.is_unique();
  };
  expect_true_in_child(writes);
  EXPECT_TRUE(writes());
}

class ForkUnderCopy : public testing::Test {
 protected:
  ForkUnderCopy() {
    source.mutable_data()[0] = std::byte{7};
    copied = source;
    allocator.halt_copy(halt);
    copier = std::thread([this] { copied.mutable_data()[0] = std::byte{8}; });
    halt.await_entry();
  }
  ~ForkUnderCopy() override {
    let_go();
    EXPECT_EQ(copied.data()[0], std::byte{8});
  }

  void let_go() {
    halt.let_go();
    if (copier.joinable()) {
      copier.join();
    }
  }
  static bool copies(Buffer& buffer) {
    const bool has_copied = buffer.materialize() == Materialized::copied;
    return has_copied && buffer.data()[0] == std::byte{7};
  }

  Halt halt;
  FailingAllocator allocator;
  Buffer source = Buffer::allocate(1000, allocator);
  Buffer copied;
  std::thread copier;
};

TEST_F(ForkUnderCopy, the_last_owner_copies_in_the_child_and_is_then_unique) {
  expect_true_in_child([&] {
    const bool has_copied = copies(source);
    source.mutable_data()[0] = std::byte{9};
    return has_copied && source.data()[0] == std::byte{9} && source.is_unique();
  });
  let_go();
  EXPECT_EQ(source.materialize(), Materialized::already_unique);
  EXPECT_EQ(source.data()[0], std::byte{7});
}

TEST_F(ForkUnderCopy, the_last_two_owners_both_copy_in_the_child) {
  Buffer second = source;
  expect_true_in_child([&] { return copies(source) && copies(second); });
}

TEST_F(ForkUnderCopy, a_child_clones_and_drops_data_that_a_lost_thread_was_copying) {
  expect_true_in_child([&] {
    Buffer clone = source;
    clone = Buffer();
    source = Buffer();
    // Unlike _exit(), exit() runs the destructors of the library, which wait for forks in progress.
    std::exit(EXIT_SUCCESS);
    return true;
  });
}

TEST(Fork, a_child_uses_an_atomic_buffer_that_lost_threads_were_using) {
  AtomicBuffer place(Buffer::allocate(64));
  std::atomic<bool> is_done(false);
  std::thread other([&] {
    while (!is_done) {
      place.store(Buffer::allocate(64));
      const Buffer loaded = place.load();
    }
  });
  for (int child = 0; child < 20; ++child) {
    expect_true_in_child([&] {
      Buffer loaded = place.load();
      loaded.mutable_data()[0] = std::byte{7};
      place.store(loaded);
      return place.holds(loaded) && place.load().data()[0] == std::byte{7} &&
             place.exchange(Buffer()).nbytes() == 64;
    });
  }
  is_done = true;
  other.join();
}

TEST(Fork, a_child_waits_for_copies_by_its_own_threads) {
  if (!a_child_may_start_threads()) {
    GTEST_SKIP() << "a child of a fork cannot start threads here";
  }
  expect_true_in_child([] {
    FailingAllocator allocator;
    Buffer source = Buffer::allocate(1000, allocator);
    Buffer copied = source;
    Halt halt;
    allocator.halt_copy(halt);
    std::thread copier([&] { copied.mutable_data(); });
    halt.await_entry();
    std::thread waiter([&] { halt.let_go(); });
    const Materialized how = source.materialize();
    waiter.join();
    copier.join();
    return how != Materialized::copied;
  });
}

/// A thread that is parked at an address until this object is destroyed.
class Sleeper {
 public:
  explicit Sleeper(const void* address) : address_(address) {
    await([&] { return checks_ >= 2; });  // the second check runs under the lock of the parking lot
  }
  ~Sleeper() {
    is_over_ = true;
    sync::detail::unpark_all(address_);
    thread_.join();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

 private:
  const void* address_;
  std::atomic<int> checks_{0};
  std::atomic<bool> is_over_{false};
  std::thread thread_{[this] {
    const auto keep_waiting = [this]() noexcept {
      ++checks_;
      return !is_over_;
    };
    while (keep_waiting()) {
      sync::detail::park(address_, keep_waiting);
    }
  }};
};

TEST(Fork, a_child_wakes_parked_threads_of_the_child) {
  if (!a_child_may_start_threads()) {
    GTEST_SKIP() << "a child of a fork cannot start threads here";
  }
  const std::byte address{};
  const Sleeper first_of_parent(&address);
  const Sleeper second_of_parent(&address);
  expect_true_in_child([&] {
    for (int round = 0; round < 3; ++round) {
      const Sleeper of_child(&address);
    }
    return true;
  });
}

using AddressLock = sync::detail::AddressLock<sync::Default>;

TEST(Fork, locks_of_lost_threads_are_free_in_the_child) {
  const std::byte address{};
  const auto locks = [&] {
    const AddressLock lock(&address);
    return lock.is_held();
  };
  {
    const StoppedThread holding([&](Halt& halt) {
      const AddressLock lock(&address);
      halt.enter();
    });
    expect_true_in_child(locks);
  }
  const StoppedThread in_the_bucket([&](Halt& halt) {
    const AddressLock lock(&address, [&] {
      halt.enter();
      return true;
    });
  });
  expect_true_in_child(locks);
}

TEST(Fork, a_lock_held_at_a_fork_is_released_in_both_processes) {
  const std::byte address{};
  std::optional<AddressLock> lock(std::in_place, &address);
  const auto let_go = [&] {
    lock.reset();
    const AddressLock again(&address);
    return again.is_held();
  };
  expect_true_in_child(let_go);
  EXPECT_TRUE(let_go());
}

TEST(Fork, a_child_can_write_in_parallel_if_a_parallel_writer_is_lost) {
  FailingAllocator allocator;
  Storage written = Storage::allocate(1000, allocator);
  const Storage clone = written.lazy_clone();
  Storage other = Storage::allocate(1000);
  const Storage clone_of_other = other.lazy_clone();
  const auto copies = [&] { return other.materialize_in_parallel() == Materialized::copied; };
  {
    const StoppedThread writing([&](Halt& halt) {
      allocator.halt_copy(halt);
      written.mutable_data_in_parallel();
    });
    expect_true_in_child(copies);
  }
  EXPECT_TRUE(copies());
}

TEST(Fork, a_child_destroys_a_pool_that_a_lost_thread_uses) {
  alignas(RecyclingPool) std::array<std::byte, sizeof(RecyclingPool)> place;
  auto* const pool = ::new (place.data()) RecyclingPool(std::size_t{1} << 20);
  {
    const StoppedThread owning([&](Halt& halt) {
      const Buffer buffer = Buffer::allocate(RecyclingPool::recycled_from, *pool);
      halt.enter();
    });
    expect_true_in_child([&] {
      pool->~RecyclingPool();
      return true;
    });
  }
  pool->~RecyclingPool();
}

#if BYRE_CHECKS

TEST(Fork, a_child_writes_data_that_a_lost_thread_was_reading) {
  FailingAllocator allocator;
  std::array<std::byte, 10> borrowed{};
  Buffer buffer = Buffer::borrow(borrowed.data(), borrowed.size(), allocator);
  const StoppedThread reading([&](Halt& halt) {
    allocator.halt_copy(halt);
    (void)buffer.lazy_clone();
  });
  expect_true_in_child([&] {
    buffer.mutable_data()[0] = std::byte{1};
    return true;
  });
}

#endif

}  // namespace
}  // namespace byre::test
