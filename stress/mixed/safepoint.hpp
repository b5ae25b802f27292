// SPDX-License-Identifier: BSL-1.0
/// Safepoint: holds the threads of a run between two operations, so that everything can be checked.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <condition_variable>
#include <mutex>

#include "../monitor.hpp"

namespace byre::stress {

/// Thread-safe. What a thread did before it was held happens before what is done while it is held.
class Safepoint {
 public:
  Safepoint(unsigned threads, Monitor& monitor) noexcept
      : monitor_(monitor), running_(threads), attached_(threads) {}

  /// By a thread of the run, between operations: waits here if the safepoint is requested.
  void poll() {
    // Relaxed: a thread that sees it late is held later; the lock orders what matters.
    if (requested_.load(boost::memory_order_relaxed)) [[unlikely]] {
      hold();
    }
  }

  /// By a thread of the run, at its end.
  void detach() {
    const std::lock_guard lock(mutex_);
    --running_;
    --attached_;
    monitor_.wake();
  }

  bool all_detached() const {
    const std::lock_guard lock(mutex_);
    return attached_ == 0;
  }
  void request() {
    const std::lock_guard lock(mutex_);
    requested_.store(true, boost::memory_order_relaxed);
  }
  /// Whether every thread is held or detached. The monitor is woken when that may have changed.
  bool is_reached() const {
    const std::lock_guard lock(mutex_);
    return running_ == 0;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    requested_.store(false, boost::memory_order_relaxed);
    changed_.notify_all();
  }

 private:
  void hold() {
    std::unique_lock lock(mutex_);
    --running_;
    monitor_.wake();
    changed_.wait(lock, [this] { return !requested_.load(boost::memory_order_relaxed); });
    ++running_;
  }

  Monitor& monitor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  unsigned running_;  // neither held nor detached
  unsigned attached_;
  boost::atomic<bool> requested_{false};
};

}  // namespace byre::stress
