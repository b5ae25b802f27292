// SPDX-License-Identifier: BSL-1.0
/// RelaxedCounter: a number that all threads may change and that orders no other memory access: a
/// count, a flag or a setting.
#pragma once

#include <byre/config.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

/// Thread-safe; wait-free. The value is approximate while other threads change it. A read is exact
/// if all changes happen before the read. Every step is relaxed, because no thread infers anything
/// else from the number.
class RelaxedCounter {
 public:
  constexpr explicit RelaxedCounter(std::uint64_t value = 0) noexcept : value_(value) {}

  /// Returns the previous value.
  std::uint64_t add() noexcept { return value_.fetch_add(1, boost::memory_order_relaxed); }
  void subtract() noexcept { value_.fetch_sub(1, boost::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(boost::memory_order_relaxed); }
  void set(std::uint64_t value) noexcept { value_.store(value, boost::memory_order_relaxed); }

 private:
  boost::atomic<std::uint64_t> value_;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
