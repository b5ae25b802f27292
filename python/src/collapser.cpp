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
      waiting_.push_back(block);
      if (!thread_.joinable()) {
        thread_ = std::thread([this] { work(); });
      }
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
    changed_.wait(lock, [&] { return ends_ || (waiting_.empty() && !is_busy_); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (ends_) {
        return;
      }
      std::shared_ptr<Block> block = waiting_.front().lock();
      waiting_.pop_front();
      is_busy_ = true;
      for (std::size_t at = 0; block != nullptr && at < block->nbytes && !ends_;
           at += step_nbytes) {
        lock.unlock();
        {
          const auto copies_wait = Blocks::all().lock(*block);
          block->buffer.collapse(at, std::min(step_nbytes, block->nbytes - at));
          block->is_collapsed = at + step_nbytes >= block->nbytes;
        }
        lock.lock();
      }
      lock.unlock();
      block.reset();
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  /// In a child of a fork, which has no thread but the one that forked.
  void renew() noexcept {
    ::new (&mutex_) std::mutex;
    ::new (&changed_) std::condition_variable;
    ::new (&thread_) std::thread;
    ::new (&waiting_) std::deque<std::weak_ptr<Block>>;
    is_busy_ = false;
  }

  /// Copies of the block wait for so much, some 4 ms.
  static constexpr std::size_t step_nbytes = huge_page_nbytes;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  std::deque<std::weak_ptr<Block>> waiting_;
  bool is_busy_ = false;
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
