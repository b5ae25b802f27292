// SPDX-License-Identifier: BSL-1.0
/// Safepoint: holds the threads of a run between two steps, so that everything can be checked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace byre::stress {

/// Thread-safe. What a thread did before it was held happens before what is done while it is held.
class Safepoint {
 public:
  /// `changed` is called when one more thread is held, or has ended.
  Safepoint(unsigned threads, std::function<void()> changed)
      : changed_(std::move(changed)), running_(threads), attached_(threads) {}

  /// By a thread of the run, between steps: waits here if the safepoint is requested.
  void poll() {
    // Relaxed: a thread that sees it late is held later; the lock orders what matters.
    if (requested_.load(std::memory_order_relaxed)) [[unlikely]] {
      std::unique_lock lock(mutex_);
      --running_;
      changed_();
      released_.wait(lock, [this] { return !requested_.load(std::memory_order_relaxed); });
      ++running_;
    }
  }
  /// By a thread of the run, at its end.
  void detach() {
    const std::lock_guard lock(mutex_);
    --running_;
    --attached_;
    changed_();
  }

  void request() {
    const std::lock_guard lock(mutex_);
    requested_.store(true, std::memory_order_relaxed);
  }
  void release() {
    const std::lock_guard lock(mutex_);
    requested_.store(false, std::memory_order_relaxed);
    released_.notify_all();
  }
  /// Whether every thread is held or detached.
  bool is_reached() const {
    const std::lock_guard lock(mutex_);
    return running_ == 0;
  }
  bool all_detached() const {
    const std::lock_guard lock(mutex_);
    return attached_ == 0;
  }

 private:
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  unsigned running_;  // neither held nor detached
  unsigned attached_;
  std::atomic<bool> requested_{false};
};

}  // namespace byre::stress
