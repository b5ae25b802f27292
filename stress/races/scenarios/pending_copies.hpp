// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/atomic/atomic.hpp>

#include <thread>

#include "shared_owners.hpp"

namespace byre::stress::races {

/// All owners but one are in the middle of their copies when the last one is about to write.
template <class Buffer>
class PendingCopies : public SharedOwners<Buffer> {
 public:
  explicit PendingCopies(Fixture& fixture) : SharedOwners<Buffer>(fixture) {
    fixture.memory.before_copy = [this] { stay_pending(); };
  }

  void prepare() override {
    SharedOwners<Buffer>::prepare();
    pending_.store(0, boost::memory_order_relaxed);
    is_released_.store(false, boost::memory_order_relaxed);
  }

 protected:
  // Relaxed, all of them: they bring the threads together and must not order them. That is the
  // protocol's part.

  /// By the last owner: returns when all others copy.
  void await_copiers() {
    while (pending_.load(boost::memory_order_relaxed) < this->fixture_.threads - 1) {
      std::this_thread::yield();
    }
  }
  void release_copiers() { is_released_.store(true, boost::memory_order_relaxed); }

 private:
  void stay_pending() {
    // The last owner, if it copies too, is not held up.
    const bool is_last =
        pending_.fetch_add(1, boost::memory_order_relaxed) == this->fixture_.threads - 1;
    while (!is_last && !is_released_.load(boost::memory_order_relaxed)) {
      std::this_thread::yield();
    }
  }

  boost::atomic<unsigned> pending_{0};
  boost::atomic<bool> is_released_{false};
};

}  // namespace byre::stress::races
