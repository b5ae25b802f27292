// SPDX-License-Identifier: BSL-1.0
/// Pauses the threads of a run between two operations, for everything to be looked at.
#pragma once

#include <boost/atomic/atomic.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>

#include "../watch.hpp"

namespace byre::stress {

/// Thread-safe. What a thread did before it paused happens before what is done while it pauses.
class Gate {
 public:
  Gate(unsigned threads, Watch& watch) noexcept
      : watch_(watch), running_(threads), staying_(threads) {}

  /// By a thread of the run, between operations.
  void pass() {
    // Relaxed: who sees it late pauses later; what matters is ordered by the lock.
    if (closed_.load(boost::memory_order_relaxed)) [[unlikely]] {
      pause();
    }
  }

  /// By a thread of the run, at its end.
  void leave() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    --running_;
    --staying_;
    watch_.wake();
  }

  bool all_left() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return staying_ == 0;
  }
  void close() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_.store(true, boost::memory_order_relaxed);
  }
  /// Whether every thread pauses or has left. The watch is woken when that may have changed.
  bool is_still() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return running_ == 0;
  }
  void open() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_.store(false, boost::memory_order_relaxed);
    changed_.notify_all();
  }

 private:
  void pause() {
    boost::unique_lock<boost::mutex> lock(mutex_);
    --running_;
    watch_.wake();
    changed_.wait(lock, [this] { return !closed_.load(boost::memory_order_relaxed); });
    ++running_;
  }

  Watch& watch_;
  mutable boost::mutex mutex_;
  boost::condition_variable changed_;
  unsigned running_;  // threads neither paused nor over
  unsigned staying_;  // threads not over
  boost::atomic<bool> closed_{false};
};

}  // namespace byre::stress
