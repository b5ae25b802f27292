// SPDX-License-Identifier: BSL-1.0
/// collect(), and the release of data that only other processes still use.
#include <byre/ipc/send.hpp>
#include <byre/memory/budget.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../pages/children.hpp"
#include "support/temporary_folder.hpp"
#include "views.hpp"

namespace byre::test {
namespace {

constexpr std::size_t mib = 1 << 20;

TEST_F(Views, data_that_only_a_view_kept_is_released_by_collect) {
  const auto before = stats::snapshot();
  buffer_ = Buffer();
  collect();
  EXPECT_EQ((stats::snapshot() - before).live_bytes,
            -static_cast<std::int64_t>(BYRE_STATS * paged_nbytes));
  EXPECT_EQ(collect().remaining, 0U);
}

TEST_F(Views, dropped_data_is_released_at_the_next_allocation) {
  buffer_ = Buffer();
  buffer_ = filled(two);
  EXPECT_EQ(collect().ended, 0U);
  EXPECT_EQ(peer_.tell(Order::read, 1), one);
}

TEST_F(Views, data_that_only_views_keep_leaves_its_budget) {
  Budget budget(3 * mib);
  BudgetedAllocator paged = budgeted(paged_allocator(), budget);
  BudgetedAllocator host = budgeted(default_allocator(), budget);
  Buffer dropped = filled(two, 2 * mib, paged);
  send(peer_.data[0], dropped);
  EXPECT_TRUE(peer_.tell(Order::receive));
  dropped = Buffer();
  EXPECT_EQ(Buffer::allocate(2 * mib, host).nbytes(), 2 * mib);
  EXPECT_EQ(budget.used(), 0U);
  dropped = filled(three, 2 * mib, paged);
  export_pages(dropped);
  dropped = Buffer();
  EXPECT_EQ(peer_.tell(Order::read, 5), two);
}  // ~Budget() requires that no byte is in use

TEST_F(Views, collect_waits_for_the_last_view) {
  Peer other;
  // The fork made the file of buffer_ constant, so this test needs data of its own.
  Buffer late = filled(two);
  for (Peer* peer : {&peer_, &other}) {
    send(peer->data[0], late);
    EXPECT_TRUE(peer->tell(Order::receive));
  }
  EXPECT_EQ(late.use_count(), 1U);
  EXPECT_FALSE(late.is_unique());
  EXPECT_TRUE(peer_.tell(Order::drop));
  EXPECT_GE(collect().remaining, 1U);
  ::kill(other.process(), SIGKILL);
  EXPECT_EQ(collect(Wait::allowed).remaining, 0U);
  EXPECT_TRUE(late.is_unique());
}

TEST_F(Views, collect_looks_at_all_data) {
  std::vector<Buffer> buffers;
  for (int index = 0; index < 20; ++index) {
    buffers.push_back(filled(one, least_paged_nbytes));
  }
  for (const std::size_t ended : {20U, 0U}) {
    for (const Buffer& buffer : buffers) {
      export_pages(buffer);
    }
    EXPECT_TRUE(ended == 0 || collect().ended == ended);
  }
  buffers.resize(8);
  EXPECT_EQ(filled(two).nbytes(), paged_nbytes);
  EXPECT_EQ(filled(two).nbytes(), paged_nbytes);
  EXPECT_EQ(filled(two).nbytes(), paged_nbytes);
  EXPECT_EQ(collect().ended, 0U);
}

/// A thread that waits for all views. The constructor returns when it sleeps.
class WaitingThread {
 public:
  WaitingThread()
      : thread_([this] {
          number_ = ::gettid();
          views_ = collect(Wait::allowed);
        }) {
    while (state() != 'S') {
      std::this_thread::yield();
    }
  }
  ~WaitingThread() { join(); }
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

  ExportedViews join() {
    if (thread_.joinable()) {
      thread_.join();
    }
    return views_;
  }

 private:
  char state() const {
    const pid_t number = number_;
    if (number == 0) {
      return '?';
    }
    const std::string text = read_file("/proc/self/task/" + std::to_string(number) + "/stat");
    return text[text.rfind(')') + 2];
  }

  ExportedViews views_;
  std::atomic<pid_t> number_ = 0;
  std::thread thread_;
};

TEST_F(Views, a_wait_for_one_view_leaves_other_data_writable) {
  Buffer other = filled(one);
  const WaitingThread waiting;
  export_pages(other);
  EXPECT_NE(other.materialize(), Materialized::overlaid);
  EXPECT_EQ(buffer_.materialize(), Materialized::overlaid);
  EXPECT_TRUE(peer_.tell(Order::drop));
}

TEST_F(Views, a_wait_ends_although_other_threads_look) {
  constexpr std::size_t count = 20;
  std::vector<Buffer> buffers;
  std::vector<ExportedPages> exported;
  for (std::size_t index = 0; index < count; ++index) {
    buffers.push_back(filled(one, least_paged_nbytes));
    exported.push_back(export_pages(buffers.back()));
  }
  WaitingThread waiting;
  EXPECT_EQ(filled(two).nbytes(), paged_nbytes);  // looks at a part of the list
  exported.clear();
  EXPECT_TRUE(peer_.tell(Order::drop));
  const ExportedViews views = waiting.join();
  EXPECT_EQ(views.ended, count + 1);
  EXPECT_EQ(views.remaining, 0U);
}

TEST_F(Views, a_wait_does_not_include_later_exports) {
  std::optional<WaitingThread> waiting(std::in_place);
  Buffer later = filled(two);
  const ExportedPages exported = export_pages(later);
  EXPECT_TRUE(peer_.tell(Order::drop));
  EXPECT_EQ(waiting->join().remaining, 1U);
}

TEST_F(Views, a_wait_does_not_keep_dropped_data) {
  std::optional<WaitingThread> waiting;
  EXPECT_TRUE(peer_.tell(Order::drop));
  {
    Budget budget(2 * mib);
    BudgetedAllocator paged = budgeted(paged_allocator(), budget);
    buffer_ = filled(two, 2 * mib, paged);
    send(peer_.data[0], buffer_);
    waiting.emplace();
    buffer_ = Buffer();
    EXPECT_EQ(Buffer::allocate(2 * mib, paged).nbytes(), 2 * mib);
    send(peer_.data[0], filled(three, 2 * mib, paged));
  }  // ~Budget() requires that no byte is in use
  EXPECT_TRUE(peer_.tell(Order::receive));
  EXPECT_EQ(peer_.tell(Order::read, 5), two);
  EXPECT_TRUE(peer_.tell(Order::receive));
  EXPECT_EQ(peer_.tell(Order::read, 5), three);
}

TEST_F(Views, a_fork_during_a_wait_leaves_data_that_can_be_written) {
  const WaitingThread waiting;
  in_a_child([this] {
    EXPECT_EQ(collect().remaining, 0U);
    EXPECT_TRUE(buffer_.is_unique());
    EXPECT_NE(buffer_.materialize(), Materialized::overlaid);
  });
  EXPECT_EQ(collect().remaining, 0U);
  EXPECT_TRUE(buffer_.is_unique());
  EXPECT_TRUE(peer_.tell(Order::drop));
}

TEST_F(Views, a_wait_without_descriptors_ends) {
  in_a_child([] {
    Buffer late = filled(one);
    const ExportedPages exported = export_pages(late);
    set_limit(RLIMIT_NOFILE, 3);
    EXPECT_EQ(collect(Wait::allowed).remaining, 1U);
  });
}

TEST(ExportingThreads, end_budgets_while_others_collect) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) {
      collect();
    }
  });
  for (int times = 0; times < 300; ++times) {
    Budget budget(mib);
    BudgetedAllocator paged = budgeted(paged_allocator(), budget);
    export_pages(filled(one, mib, paged));
  }
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace byre::test
