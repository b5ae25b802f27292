// SPDX-License-Identifier: BSL-1.0
/// Line: where the threads of a race meet. They leave it within some hundred nanoseconds of each
/// other, which threads that are woken one by one do not.
#pragma once

#include <byre/sync/boost.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstdint>
#include <thread>

namespace byre::stress::races {

/// For the same threads again and again.
class Line {
 public:
  explicit Line(unsigned threads) noexcept : threads_(threads) {}

  /// Returns when all threads have called it as often as this one.
  void meet() noexcept {
    // Release and acquire pair with each other: what any thread did before happens before what all
    // do after.
    const std::uint64_t before = arrived_.fetch_add(1, boost::memory_order_release);
    const std::uint64_t all = (before / threads_ + 1) * threads_;
    for (unsigned looks = 0; arrived_.load(boost::memory_order_acquire) < all; ++looks) {
      if (looks < looks_before_yielding) {
        sync::Boost::pause();
      } else {
        std::this_thread::yield();  // to one that is still to come
      }
    }
  }

 private:
  static constexpr unsigned looks_before_yielding = 100;

  const std::uint64_t threads_;
  boost::atomic<std::uint64_t> arrived_{0};
};

}  // namespace byre::stress::races
