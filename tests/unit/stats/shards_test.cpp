// SPDX-License-Identifier: BSL-1.0
/// Counts of many threads: running, ended, and ending.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstdint>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/thread_end.hpp"

namespace byre::test {
namespace {

class ShardsTest : public WithStats {
 protected:
  const Buffer buffer = Buffer::allocate(10, aligned_allocator());
};

TEST_F(ShardsTest, counts_of_an_ended_thread_survive_it) {
  const Counted counted;
  elsewhere([&] { const Buffer clone = buffer; });
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 1, .bytes_not_copied = 10}));
}

TEST_F(ShardsTest, counts_of_a_running_thread_are_seen) {
  const Counted counted;
  Halt halt;
  boost::thread running([&] {
    const Buffer clone = buffer;
    halt.enter();
  });
  halt.await_entry();
  EXPECT_EQ(counted.since().lazy_clones, 1);
  halt.let_go();
  running.join();
  EXPECT_EQ(counted.since().lazy_clones, 1) << "counted once, not again at the end of its thread";
}

TEST_F(ShardsTest, many_threads_add_up_exactly) {
  const Counted counted;
  at_once(8, [&](std::size_t thread) {
    for (std::size_t i = 0; i < 1000 + thread; ++i) {
      Buffer clone = buffer;
      clone.mutable_data();
    }
  });
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 8028, .copies = 8028, .bytes_copied = 80280}));
}

TEST_F(ShardsTest, counts_that_cancel_out_over_threads_do) {
  const Counted counted;
  Buffer made_here = Buffer::allocate(1000, aligned_allocator());
  EXPECT_EQ(counted.since().live_bytes, 1000);
  elsewhere([&] { made_here = Buffer(); });
  EXPECT_EQ(counted.since().live_bytes, 0);
}

TEST_F(ShardsTest, snapshots_never_go_back_while_threads_come_and_go) {
  const Counted counted;
  at_once(4, [&](std::size_t thread) {
    if (thread == 0) {
      std::int64_t seen = 0;
      while (seen < 3 * 200) {
        const std::int64_t now = counted.since().lazy_clones;
        ASSERT_GE(now, seen);
        seen = now;
        boost::this_thread::yield();
      }
    } else {
      for (int i = 0; i < 200; ++i) {
        elsewhere([&] { const Buffer clone = buffer; });
      }
    }
  });
  EXPECT_EQ(counted.since().lazy_clones, 600);
}

/// Counts when its thread ends: one lazy clone and one copy.
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

TEST_F(ShardsTest, counts_within_the_end_of_a_thread_are_not_lost) {
  const Counted counted;
  for (int i = 0; i < 100; ++i) {
    elsewhere([&] {
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

TEST_F(ShardsTest, counts_of_a_thread_that_only_counts_while_it_ends_are_kept) {
  const Counted counted;
  for (int i = 0; i < 100; ++i) {
    elsewhere([&] { destroyed_last.hold(buffer); });
  }
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 100, .copies = 100, .bytes_copied = 1000}));
}

TEST_F(ShardsTest, many_threads_that_end_at_once_leave_nothing_behind) {
  const Counted counted;
  for (int round = 0; round < 20; ++round) {
    at_once(8, [&](std::size_t) {
      destroyed_last.hold(buffer);
      const Buffer clone = buffer;
    });
    (void)stats::snapshot();  // reads the shards of threads that have ended, if any is left
  }
  EXPECT_EQ(
      counted.text(),
      text_of({.lazy_clones = 320, .copies = 160, .bytes_copied = 1600, .bytes_not_copied = 1600}));
}

}  // namespace
}  // namespace byre::test
