// SPDX-License-Identifier: BSL-1.0
/// Relaxed: a number that all threads may change and that orders no other memory access: a count, a
/// flag or a setting.
#pragma once

#include <byre/sync/default.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

/// Thread-safe; wait-free. The value is approximate while other threads change it. A read is exact
/// if all changes happen before the read. Every step is relaxed, because no thread infers anything
/// else from the number.
template <class Value>
class Relaxed {
 public:
  constexpr explicit Relaxed(Value value = 0) noexcept : value_(value) {}

  /// Returns the previous value.
  Value add() noexcept { return value_.fetch_add(1, order); }
  void subtract() noexcept { value_.fetch_sub(1, order); }
  [[gnu::always_inline]] Value value() const noexcept { return value_.load(order); }
  [[gnu::always_inline]] void set(Value value) noexcept { value_.store(value, order); }

 private:
  using Atomics = Default::Atomics;
  static constexpr auto order = Atomics::order(std::memory_order::relaxed);

  typename Atomics::template Atomic<Value> value_;
};

using RelaxedCounter = Relaxed<std::uint64_t>;

}  // namespace byre::inline BYRE_ABI::sync::detail
