// SPDX-License-Identifier: BSL-1.0
/// A number that all threads may change and that orders nothing: a count, a flag or a choice.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <cstdint>

namespace byre::inline v0::sync::detail {

/// Thread-safe; wait-free. Approximate while others change it, exact for a thread that comes after them: every step
/// is relaxed, since the number is all there is to know.
class RelaxedCounter {
 public:
  constexpr explicit RelaxedCounter(std::uint64_t value = 0) noexcept : value_(value) {}

  /// Returns the value before.
  std::uint64_t add() noexcept { return value_.fetch_add(1, boost::memory_order_relaxed); }
  void subtract() noexcept { value_.fetch_sub(1, boost::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(boost::memory_order_relaxed); }
  void set(std::uint64_t value) noexcept { value_.store(value, boost::memory_order_relaxed); }

 private:
  boost::atomic<std::uint64_t> value_;
};

}  // namespace byre::inline v0::sync::detail
