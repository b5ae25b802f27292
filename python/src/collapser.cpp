// SPDX-License-Identifier: BSL-1.0
#include "collapser.hpp"

#include <byre/memory/pages.hpp>

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

namespace byre::inline v0::python {
namespace {

class Collapser {
 public:
  Collapser() {
    // A fork takes locks in the reverse order of registration: this one before those of blocks.
    Blocks::all();
    ::pthread_atfork([] { collapser().mutex_.lock(); }, [] { collapser().mutex_.unlock(); },
                     [] { collapser().renew(); });
  }

  static Collapser& collapser() {
    static auto* const made = new Collapser;
    return *made;
  }

  void add(const std::shared_ptr<Block>& block) {
    const std::lock_guard lock(mutex_);
    if (!ends_) {
      if (!thread_.joinable()) {
        thread_ = std::thread([this] { work(); });
      }
      waiting_.push_back({block, 0});
      changed_.notify_all();
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || waiting_.empty(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (ends_) {
        return;
      }
      if (collapse_next(waiting_.front(), lock)) {
        waiting_.pop_front();
        changed_.notify_all();
      }
    }
  }

  struct Task {
    std::weak_ptr<Block> block;
    std::size_t done_nbytes = 0;
  };

  /// The next part of a block. True if the task is over. This thread refers to the block only under one of the two
  /// locks, which a fork takes: in the child the reference would never end, nor the block.
  static bool collapse_next(Task& task, std::unique_lock<std::mutex>& lock) {
    std::shared_ptr<Block> block = task.block.lock();
    if (block == nullptr) {
      return true;
    }
    const std::size_t begin = task.done_nbytes;
    task.done_nbytes = std::min(begin + step_nbytes, block->nbytes);
    const bool is_last = task.done_nbytes == block->nbytes;
    {
      const auto copies_wait = Blocks::all().lock(*block);
      lock.unlock();
      block->buffer.collapse(begin, task.done_nbytes - begin);
      block->is_collapsed.store(is_last, std::memory_order_relaxed);
      block.reset();
    }
    lock.lock();
    return is_last;
  }

  /// In a child of a fork, which has no thread but the one that forked.
  void renew() noexcept {
    ::new (&mutex_) std::mutex;
    ::new (&changed_) std::condition_variable;
    ::new (&thread_) std::thread;
    ::new (&waiting_) std::deque<Task>;
  }

  /// Copies of the block wait for so much, some 4 ms.
  static constexpr std::size_t step_nbytes = huge_page_nbytes;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  std::deque<Task> waiting_;
  bool ends_ = false;
};

}  // namespace

void collapse_later(const std::shared_ptr<Block>& block) noexcept try {
  if (block->nbytes >= huge_page_nbytes) {
    Collapser::collapser().add(block);
  }
} catch (...) {
  // Without memory for a thread the block stays in small pages.
}

void end_collapsing() noexcept {
  Collapser::collapser().end();
}

void wait_for_collapses() {
  Collapser::collapser().wait();
}

}  // namespace byre::inline v0::python
