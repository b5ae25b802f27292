// SPDX-License-Identifier: BSL-1.0
/// Counters of waits, and of threads that run, have ended, or are ending. The random programs over
/// storages check what each operation counts.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/thread_end.hpp"

namespace byre::test {
namespace {

using stats::Counters;

TEST(Counters, subtract_memberwise) {
  const Counters after{11, 22, 33, 44, 55, 66, 77, 88};
  const Counters before{1, 3, 5, 7, 11, 13, 17, 100};
  const Counters difference{10, 19, 28, 37, 44, 53, 60, -12};
  EXPECT_EQ(text_of(after - before), text_of(difference));
  EXPECT_EQ(after - before, difference);
  EXPECT_NE(after, before);
}

class CountersTest : public WithStats {};

TEST_F(CountersTest, a_last_owner_counts_its_wait_or_the_copy_it_makes_instead) {
  for (const Wait wait : {Wait::allowed, Wait::never}) {
    const bool waits = wait == Wait::allowed;
    Halt first_copy;
    FailingAllocator allocator;
    allocator.halt_copy(first_copy);
    Buffer buffer = Buffer::allocate(100, allocator);
    Buffer clone = buffer;
    const Counted counted;
    std::thread copier([&] { clone.mutable_data(); });
    first_copy.await_entry();
    EXPECT_EQ(counted.since().waits, 0);
    Materialized outcome{};
    std::thread writer([&] { outcome = buffer.materialize(wait); });
    if (waits) {
      await([&] { return counted.since().waits != 0; });
    } else {
      writer.join();
    }
    first_copy.let_go();
    copier.join();
    if (writer.joinable()) {
      writer.join();
    }
    EXPECT_EQ(outcome, waits ? Materialized::stole : Materialized::copied);
    Counters since = counted.since();
    EXPECT_EQ(since.waits != 0, waits);
    since.waits = 0;
    const Counters stolen{
        .copies = 1, .steals = 1, .bytes_copied = 100, .bytes_not_copied = -100, .live_bytes = 100};
    const Counters copied{
        .copies = 2, .bytes_copied = 200, .bytes_not_copied = -200, .live_bytes = 100};
    EXPECT_EQ(text_of(since), text_of(waits ? stolen : copied));
  }
}

class ShardsTest : public WithStats {
 protected:
  const Buffer buffer = Buffer::allocate(10, aligned_allocator());
};

TEST_F(ShardsTest, snapshots_include_the_counts_of_running_threads) {
  const Counted counted;
  Halt halt;
  std::thread running([&] {
    const Buffer clone = buffer;
    halt.enter();
  });
  halt.await_entry();
  EXPECT_EQ(counted.since().lazy_clones, 1);
  halt.let_go();
  running.join();
  EXPECT_EQ(counted.since().lazy_clones, 1)
      << "the clone was counted again at the end of its thread";
}

TEST_F(ShardsTest, counters_never_decrease_while_threads_start_and_end) {
  const Counted counted;
  at_once(4, [&](std::size_t thread) {
    if (thread == 0) {
      std::int64_t seen = 0;
      while (seen < 3 * 200) {
        const std::int64_t now = counted.since().lazy_clones;
        ASSERT_GE(now, seen);
        seen = now;
        std::this_thread::yield();
      }
    } else {
      for (int i = 0; i < 200; ++i) {
        on_another_thread([&] { const Buffer clone = buffer; });
      }
    }
  });
  EXPECT_EQ(counted.since().lazy_clones, 600);
}

/// Makes one lazy clone and one copy in its destructor, while its thread ends.
class CountsAtTheEnd {
 public:
  void hold(const Buffer& buffer) { held_ = &buffer; }
  ~CountsAtTheEnd() {
    if (held_ != nullptr) {
      Buffer clone = *held_;
      clone.mutable_data();
    }
  }

 private:
  const Buffer* held_ = nullptr;
};

thread_local CountsAtTheEnd destroyed_last;

TEST_F(ShardsTest, counts_during_the_end_of_a_thread_are_not_lost) {
  BYRE_NEED_NATIVE_TLS();
  const Counted counted;
  for (int i = 0; i < 100; ++i) {
    on_another_thread([&] {
      at_thread_end([&] {
        Buffer clone = buffer;
        clone.mutable_data();
      });
      const Buffer clone = buffer;
      destroyed_last.hold(buffer);
    });
  }
  EXPECT_EQ(
      counted.text(),
      text_of({.lazy_clones = 300, .copies = 200, .bytes_copied = 2000, .bytes_not_copied = 1000}));
}

TEST_F(ShardsTest, counts_of_threads_that_end_concurrently_are_complete) {
  BYRE_NEED_NATIVE_TLS();
  const Counted counted;
  for (std::size_t round = 0; round < 20; ++round) {
    at_once(8, [&](std::size_t thread) {
      destroyed_last.hold(buffer);
      if (thread % 2 == 0) {  // the other threads count for the first time while they end
        const Buffer clone = buffer;
      }
    });
    // A sanitizer reports an error here if the list still contains the shard of an ended thread.
    (void)stats::snapshot();
  }
  EXPECT_EQ(
      counted.text(),
      text_of({.lazy_clones = 240, .copies = 160, .bytes_copied = 1600, .bytes_not_copied = 800}));
}

}  // namespace
}  // namespace byre::test
