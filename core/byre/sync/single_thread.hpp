// SPDX-License-Identifier: BSL-1.0
/// sync::SingleThread: the seam of builds with the Meson option sync=single_thread, for systems
/// without threads. Its atomics are plain integers, and its locks do nothing. A program must use
/// byre from one thread only.
#pragma once

#include <byre/sync/detail/native.hpp>

#include <utility>

namespace byre::inline BYRE_ABI::sync {

namespace detail {

struct PlainAtomics {
  template <class Value>
  class Atomic {
   public:
    static constexpr bool is_always_lock_free = true;

    constexpr explicit Atomic(Value value) noexcept : value_(value) {}

    Value load(std::memory_order) const noexcept { return value_; }
    void store(Value value, std::memory_order) noexcept { value_ = value; }
    Value exchange(Value value, std::memory_order) noexcept { return std::exchange(value_, value); }
    Value fetch_add(Value value, std::memory_order) noexcept {
      return std::exchange(value_, static_cast<Value>(value_ + value));
    }
    Value fetch_sub(Value value, std::memory_order) noexcept {
      return std::exchange(value_, static_cast<Value>(value_ - value));
    }
    bool compare_exchange_weak(Value& expected, Value desired, std::memory_order,
                               std::memory_order) noexcept {
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = desired;
      return true;
    }

   private:
    Value value_;
  };

  static constexpr std::memory_order order(std::memory_order order) noexcept { return order; }
};

}  // namespace detail

struct BYRE_API SingleThread : detail::Native<detail::PlainAtomics> {};

static_assert(Sync<SingleThread>);

}  // namespace byre::inline BYRE_ABI::sync
