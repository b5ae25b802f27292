// SPDX-License-Identifier: BSL-1.0
/// collect(), and the release of data that only other processes still use.
#include <byre/ipc/send.hpp>
#include <byre/memory/budget.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
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

/// Returns when a thread of this process sleeps.
void await_sleep(pid_t number) {
  const auto state = [&] {
    const std::string text = read_file("/proc/self/task/" + std::to_string(number) + "/stat");
    return text[text.rfind(')') + 2];
  };
  while (state() != 'S') {
    std::this_thread::yield();
  }
}

/// A thread that waits for all views. The constructor returns when it sleeps.
class WaitingThread {
 public:
  WaitingThread()
      : thread_([this] {
          number_ = ::gettid();
          number_.notify_all();
          views_ = collect(Wait::allowed);
        }) {
    number_.wait(0);
    await_sleep(number_);
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

/// Pages whose release waits until another thread sleeps.
class SlowFile : public detail::PageFile {
 public:
  /// Thread `waiter` sleeps eventually. `is_begun` becomes true when the release begins.
  SlowFile(std::size_t nbytes, std::atomic<bool>& is_begun, pid_t waiter)
      : pages_(nbytes), is_begun_(is_begun), waiter_(waiter) {
    set_mapping(pages_.data(), nbytes);
  }
  ~SlowFile() override {
    is_begun_ = true;
    await_sleep(waiter_);
  }
  bool is_exportable() const noexcept override { return true; }
  detail::FileForOthers open_for_others() noexcept override {
    return {detail::Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)), true};
  }
  detail::Overlay map_overlay(std::byte*, detail::OtherOverlays,
                              detail::MovedPages) noexcept override {
    return {nullptr, 0};
  }
  void unmap_overlay(std::byte*) noexcept override {}

 private:
  std::vector<std::byte> pages_;
  std::atomic<bool>& is_begun_;
  const pid_t waiter_;
};

class SlowPages : public detail::PageAllocator {
 public:
  Block allocate(const Request&) override { throw std::bad_alloc(); }
  void deallocate(const Block&) noexcept override {}
  std::unique_ptr<detail::PageFile> create_file(std::size_t nbytes) override {
    return std::make_unique<SlowFile>(nbytes, is_begun, ::gettid());
  }
  const char* name() const noexcept override { return "slow pages"; }

  std::atomic<bool> is_begun = false;
};

TEST(EndOfBudgets, awaits_data_that_another_thread_releases) {
  SlowPages pages;
  std::thread other;
  {
    Budget budget(mib);
    BudgetedAllocator budgeted_pages = budgeted(pages, budget);
    export_pages(Buffer::allocate(mib, budgeted_pages));
    other = std::thread([] { collect(); });
    while (!pages.is_begun) {
      std::this_thread::yield();
    }
  }  // ~Budget() requires that no byte is in use
  other.join();
}

}  // namespace
}  // namespace byre::test
