// SPDX-License-Identifier: BSL-1.0
/// SpinBarrier: releases threads within some hundred nanoseconds of each other. Threads that sleep
/// would start further apart, because the system wakes them one by one.
#pragma once

#include <byre/sync/default.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace byre::stress::races {

/// A fixed set of threads may use a barrier repeatedly.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned threads) noexcept : threads_(threads) {}

  /// Returns when all threads have arrived as often as the calling thread.
  void arrive_and_wait() noexcept {
    // Release and acquire pair with each other: all operations of all threads before the barrier
    // happen before all operations after it.
    const std::uint64_t before = arrived_.fetch_add(1, std::memory_order_release);
    const std::uint64_t all = (before / threads_ + 1) * threads_;
    for (unsigned spins = 0; arrived_.load(std::memory_order_acquire) < all; ++spins) {
      if (spins < spin_limit) {
        sync::Default::pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  static constexpr unsigned spin_limit = 100;

  const std::uint64_t threads_;
  std::atomic<std::uint64_t> arrived_{0};
};

}  // namespace byre::stress::races
