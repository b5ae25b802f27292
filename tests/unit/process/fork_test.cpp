// SPDX-License-Identifier: BSL-1.0
/// What a child of a fork finds, where other threads were in the middle of something.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/thread/thread.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/counted.hpp"
#include "support/emulated.hpp"

namespace byre::test {
namespace {

constexpr std::chrono::seconds patience(60);

/// Runs `child` in a child process, and expects that it ends and returns true.
void expect_of_a_child(FunctionRef<bool()> child) {
  const ChildResult result = run_in_child(
      [&](int output) {
        if (!child()) {
          write_all(output, "returned false\n");
          ::_exit(EXIT_FAILURE);
        }
      },
      patience);
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << ": " << result.output;
}

/// Stops the first copy that is made into its memory, on that thread.
class HaltingAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override { return aligned_allocator().allocate(request); }
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override {
    if (!std::exchange(is_passed_, true)) {
      halt.enter();
    }
    return aligned_allocator().allocate_copy(request, source, nbytes);
  }
  void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
  const char* name() const noexcept override { return "halting allocator"; }

  Halt halt;

 private:
  bool is_passed_ = false;
};

/// A thread that is in the middle of something: `work` enters the halt that it is given, and goes on when this ends.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void(Halt&)> work)
      : thread_([this, work = std::move(work)] { work(halt_); }) {
    halt_.await_entry();
  }
  ~Meanwhile() {
    halt_.let_go();
    thread_.join();
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  Halt halt_;
  boost::thread thread_;
};

TEST(Fork, a_child_and_its_child_have_numbers_of_their_own) {
  const std::uint32_t number = sync::detail::process_number;
  expect_of_a_child([&] {
    const bool is_next = sync::detail::process_number == number + 1;
    expect_of_a_child([&] { return sync::detail::process_number == number + 2; });
    return is_next && !testing::Test::HasFailure();
  });
  EXPECT_EQ(sync::detail::process_number, number);
}

class ForkUnderCopy : public testing::Test {
 protected:
  ForkUnderCopy() {
    static_cast<std::byte*>(source.mutable_data())[0] = std::byte{7};
    copied = source;
    copier = boost::thread([this] { copied.mutable_data()[0] = std::byte{8}; });
    allocator.halt.await_entry();
  }
  void let_go() {
    allocator.halt.let_go();
    copier.join();
  }

  HaltingAllocator allocator;
  Buffer source = Buffer::allocate(1000, allocator);
  Buffer copied;
  boost::thread copier;
};

TEST_F(ForkUnderCopy, the_last_owner_copies_in_the_child_and_later_steals) {
  expect_of_a_child([&] {
    const Materialized how = source.materialize();
    source.mutable_data()[0] = std::byte{9};
    return how == Materialized::copied && source.data()[0] == std::byte{9} && source.is_unique();
  });
  let_go();
  EXPECT_EQ(source.materialize(), Materialized::already_unique);
  EXPECT_EQ(source.data()[0], std::byte{7});
  EXPECT_EQ(copied.data()[0], std::byte{8});
}

TEST_F(ForkUnderCopy, the_last_two_owners_both_copy_in_the_child) {
  Buffer second = source;
  expect_of_a_child([&] {
    const bool are_copied = source.materialize() == Materialized::copied &&
                            second.materialize() == Materialized::copied;
    return are_copied && second.data()[0] == std::byte{7} && source.data()[0] == std::byte{7};
  });
  let_go();
}

TEST_F(ForkUnderCopy, a_child_drops_and_clones_what_was_copied) {
  expect_of_a_child([&] {
    Buffer clone = source;
    clone = Buffer();
    source = Buffer();
    return true;
  });
  let_go();
}

TEST_F(ForkUnderCopy, a_child_ends_by_exit_though_a_copy_was_under_way) {
  const ChildResult result = run_in_child(
      [&](int) {
        const Buffer clone = source;
        // Unlike _exit(), exit() runs the library's destructors, which wait for forks that are under way.
        std::exit(EXIT_SUCCESS);
      },
      patience);
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << ": " << result.output;
  let_go();
}

TEST(Fork, a_child_of_a_child_ends_by_exit) {
  expect_of_a_child([] {
    const ChildResult result = run_in_child([](int) { std::exit(EXIT_SUCCESS); }, patience);
    return result.exit.is_success();
  });
}

TEST(Fork, a_child_steals_what_nobody_was_copying) {
  Buffer source = Buffer::allocate(1000);
  std::optional<Buffer> clone = source;
  const std::byte* const data = source.data();
  expect_of_a_child([&] {
    clone.reset();
    return source.materialize() == Materialized::already_unique && source.data() == data;
  });
  EXPECT_TRUE(source.shares_data_with(*clone));
}

TEST(Fork, a_child_s_write_is_not_seen_by_its_parent) {
  Buffer buffer = Buffer::allocate(1000);
  buffer.mutable_data()[0] = std::byte{1};
  expect_of_a_child([&] {
    buffer.mutable_data()[0] = std::byte{2};
    return buffer.data()[0] == std::byte{2};
  });
  EXPECT_EQ(buffer.data()[0], std::byte{1});
}

TEST(Fork, a_child_waits_for_copies_of_its_threads_and_steals) {
  if (!a_child_may_start_threads()) {
    GTEST_SKIP() << "no child may start threads here";
  }
  expect_of_a_child([] {
    HaltingAllocator allocator;
    Buffer source = Buffer::allocate(1000, allocator);
    Buffer copied = source;
    boost::thread copier([&] { copied.mutable_data(); });
    allocator.halt.await_entry();
    boost::thread waiter([&] { allocator.halt.let_go(); });
    const Materialized how = source.materialize();
    waiter.join();
    copier.join();
    return how != Materialized::copied;
  });
}

/// Threads that sleep in a parking lot until they are told.
class Sleepers {
 public:
  /// One that sleeps at `address`, or is just about to.
  void add(const void* address) {
    const auto keep_waiting = [this]() noexcept {
      const boost::lock_guard<boost::mutex> lock(mutex_);
      ++asked_;
      return !is_over_;
    };
    const int before = asked();
    threads_.create_thread([=] {
      while (keep_waiting()) {
        sync::detail::park(address, keep_waiting);
      }
    });
    await([&] { return asked() >= before + 2; });  // the second time under the lot's lock
    addresses_.push_back(address);
  }
  void wake() {
    {
      const boost::lock_guard<boost::mutex> lock(mutex_);
      is_over_ = true;
    }
    for (const void* const address : addresses_) {
      sync::detail::unpark_all(address);
    }
    threads_.join_all();
  }

 private:
  int asked() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return asked_;
  }

  boost::mutex mutex_;
  int asked_ = 0;
  bool is_over_ = false;
  std::vector<const void*> addresses_;
  boost::thread_group threads_;
};

TEST(Fork, a_child_wakes_its_sleepers_beside_those_of_its_parent) {
  if (!a_child_may_start_threads()) {
    GTEST_SKIP() << "no child may start threads here";
  }
  const std::byte address{};
  Sleepers of_the_parent;
  of_the_parent.add(&address);
  of_the_parent.add(&address);
  expect_of_a_child([&] {
    for (int round = 0; round < 3; ++round) {
      Sleepers of_the_child;
      of_the_child.add(&address);
      of_the_child.wake();
    }
    return true;
  });
  of_the_parent.wake();
}

using AddressLock = sync::detail::AddressLock<sync::Boost>;

TEST(Fork, locks_that_other_threads_hold_are_free_in_the_child) {
  const std::byte address{};
  const auto locks = [&] {
    const AddressLock lock(&address);
    return lock.is_held();
  };
  {
    const Meanwhile holding([&](Halt& halt) {
      const AddressLock lock(&address);
      halt.enter();
    });
    expect_of_a_child(locks);
  }
  const Meanwhile in_the_bucket([&](Halt& halt) {
    const AddressLock lock(&address, [&] {
      halt.enter();
      return true;
    });
  });
  expect_of_a_child(locks);
}

TEST(Fork, a_lock_held_at_a_fork_is_let_go_in_both_processes) {
  const std::byte address{};
  std::optional<AddressLock> lock(std::in_place, &address);
  const auto let_go = [&] {
    lock.reset();
    const AddressLock again(&address);
    return again.is_held();
  };
  expect_of_a_child(let_go);
  EXPECT_TRUE(let_go());
}

TEST(Fork, a_child_writes_in_parallel_beside_loops_of_its_parent) {
  HaltingAllocator allocator;
  Storage written = Storage::allocate(1000, allocator);
  const Storage clone = written.lazy_clone();
  boost::thread writer([&] { written.mutable_data_in_parallel(); });
  allocator.halt.await_entry();
  Storage other = Storage::allocate(1000);
  const Storage clone_of_other = other.lazy_clone();
  expect_of_a_child([&] { return other.materialize_in_parallel() == Materialized::copied; });
  allocator.halt.let_go();
  writer.join();
  EXPECT_EQ(other.materialize_in_parallel(), Materialized::copied);
}

TEST(Fork, a_child_destroys_a_pool_that_its_parent_s_thread_uses) {
  alignas(RecyclingPool) std::array<std::byte, sizeof(RecyclingPool)> place;
  auto* const pool = ::new (place.data()) RecyclingPool(std::size_t{1} << 20);
  {
    const Meanwhile owning([&](Halt& halt) {
      const Buffer buffer = Buffer::allocate(RecyclingPool::recycled_from, *pool);
      halt.enter();
    });
    expect_of_a_child([&] {
      pool->~RecyclingPool();
      return true;
    });
  }
  pool->~RecyclingPool();
}

class ForkAndStats : public WithStats {};

/// Copies once.
void copy_once() {
  Buffer buffer = Buffer::allocate(100);
  const Buffer clone = buffer;
  buffer.mutable_data();
}

TEST_F(ForkAndStats, counts_of_other_threads_are_kept_in_the_child) {
  const Buffer buffer = Buffer::allocate(10);
  const std::array<Buffer, 7> clones_of_this_thread{buffer, buffer, buffer, buffer,
                                                    buffer, buffer, buffer};
  const Counted counted;
  const Meanwhile cloning([&](Halt& halt) {
    const std::array<Buffer, 3> clones{buffer, buffer, buffer};
    halt.enter();
  });
  expect_of_a_child([&] {
    const bool are_kept = counted.since().lazy_clones == 3;
    if (a_child_may_start_threads()) {
      // These have the memory of the thread that is gone.
      at_once(2, [&](std::size_t) { const Buffer clone = buffer; });
    } else {
      const std::array<Buffer, 2> clones{buffer, buffer};
    }
    return are_kept && counted.since().lazy_clones == 5;
  });
  EXPECT_EQ(counted.since().lazy_clones, 3);
}

TEST_F(ForkAndStats, counts_of_threads_older_than_the_forking_are_kept_once) {
  const Buffer buffer = Buffer::allocate(10);
  const Counted counted;
  const Meanwhile older([&](Halt& halt) {
    const Buffer clone = buffer;
    halt.enter();
  });
  elsewhere([&] {
    const std::array<Buffer, 2> clones{buffer, buffer};
    expect_of_a_child([&] { return counted.since().lazy_clones == 3; });
  });
}

TEST_F(ForkAndStats, a_child_uninstalls_a_sink_that_another_thread_was_in) {
  Halt halt;
  std::optional<stats::InstalledSink> sink(std::in_place, [&](const stats::CopyEvent&) {
    if (sync::detail::process_number == 0) {
      halt.enter();
    }
  });
  boost::thread copying(&copy_once);
  halt.await_entry();
  expect_of_a_child([&] {
    copy_once();
    sink.reset();
    int copies = 0;
    const stats::InstalledSink counting([&](const stats::CopyEvent&) { ++copies; });
    copy_once();
    return copies == 1;
  });
  halt.let_go();
  copying.join();
}

TEST_F(ForkAndStats, a_sink_forks_and_both_processes_go_on) {
  pid_t child = -1;
  std::optional<stats::InstalledSink> sink(std::in_place,
                                           [&](const stats::CopyEvent&) { child = ::fork(); });
  copy_once();
  if (child == 0) {
    ::alarm(static_cast<unsigned>(patience.count()));
    sink.reset();
    copy_once();
    ::_exit(EXIT_SUCCESS);
  }
  sink.reset();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << Exit(status).text();
}

#if BYRE_CHECKS

TEST(Fork, a_child_writes_what_another_thread_was_reading) {
  HaltingAllocator allocator;
  std::array<std::byte, 10> lent{};
  Buffer buffer = Buffer::borrow(lent.data(), lent.size(), allocator);
  boost::thread reading([&] { const Buffer clone = buffer.lazy_clone(); });
  allocator.halt.await_entry();
  expect_of_a_child([&] {
    buffer.mutable_data()[0] = std::byte{1};
    return true;
  });
  allocator.halt.let_go();
  reading.join();
}

#endif

}  // namespace
}  // namespace byre::test
