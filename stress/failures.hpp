// SPDX-License-Identifier: BSL-1.0
/// Where every part of a run says what it found wrong. The first failure ends the run.
#pragma once

#include <boost/atomic/atomic.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace byre::stress {

/// Thread-safe.
class Failures {
 public:
  void add(std::string text) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    // One cause may show a thousand times.
    if (texts_.size() < most_kept) {
      texts_.push_back(std::move(text));
    }
    // Relaxed: it only ends the run; who reads the texts takes the lock.
    any_.store(true, boost::memory_order_relaxed);
  }

  bool any() const noexcept { return any_.load(boost::memory_order_relaxed); }

  std::vector<std::string> texts() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return texts_;
  }

 private:
  static constexpr std::size_t most_kept = 20;

  mutable boost::mutex mutex_;
  std::vector<std::string> texts_;
  boost::atomic<bool> any_{false};
};

}  // namespace byre::stress
