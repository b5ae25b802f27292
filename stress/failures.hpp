// SPDX-License-Identifier: BSL-1.0
/// The failures that the parts of a run report. The first one ends the run.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace byre::stress {

/// Thread-safe.
class Failures {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    // One cause may have a thousand failures.
    if (texts_.size() < most_kept) {
      texts_.push_back(std::move(text));
    }
    // Relaxed: it only ends the run; a reader of the texts takes the lock.
    any_.store(true, boost::memory_order_relaxed);
  }

  bool any() const noexcept { return any_.load(boost::memory_order_relaxed); }

  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  static constexpr std::size_t most_kept = 20;

  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
  boost::atomic<bool> any_{false};
};

}  // namespace byre::stress
