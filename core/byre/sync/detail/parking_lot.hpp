// SPDX-License-Identifier: BSL-1.0
/// The parking lot: a table, outside the objects, in which threads wait for a change of the object
/// at an address. A waker uses only the address, never the object, which may already be destroyed
/// (invariant I2 of the share word, cow/share_word.hpp).
///
/// It follows WebKit's WTF::ParkingLot, reduced to the needs of one rare waiter per address. A
/// waiter checks its condition under the lock of its bucket, and a waker acquires that lock after
/// the change. Thus either the check reads the change, or the waker wakes the sleeper.
#pragma once

#include <byre/config.hpp>

#include <memory>
#include <type_traits>

namespace byre::inline BYRE_ABI::sync::detail {

/// A reference to a condition (a callable that returns bool) that a thread evaluates under a lock
/// of a table to decide whether it has to wait. It owns nothing and allocates nothing.
class ConditionRef {
 public:
  template <class Condition>
  explicit ConditionRef(Condition& condition) noexcept
      : condition_(std::addressof(condition)), call_([](const void* erased) {
          return static_cast<bool>((*static_cast<std::add_const_t<Condition>*>(erased))());
        }) {}

  bool operator()() const { return call_(condition_); }

 private:
  const void* condition_;
  bool (*call_)(const void*);
};

/// Returns immediately if `keep_waiting()` is false. Otherwise blocks until an unpark_all() of the
/// address; may return spuriously. `keep_waiting()` runs under a lock of the table and must not
/// throw. Not an interruption point of Boost.Thread.
BYRE_API void park(const void* address, ConditionRef keep_waiting) noexcept;

/// Wakes every thread that is parked at `address`. Does not access the memory there.
BYRE_API void unpark_all(const void* address) noexcept;

template <class Condition>
inline void park(const void* address, Condition& condition) noexcept {
  park(address, ConditionRef(condition));
}

}  // namespace byre::inline BYRE_ABI::sync::detail
