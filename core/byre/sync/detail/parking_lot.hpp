// SPDX-License-Identifier: BSL-1.0
/// A parking lot: threads wait for the state of an address in a table beside it, so that whoever
/// wakes them touches nothing of the object, which may be gone by then (invariant I2).
///
/// After WebKit's WTF::ParkingLot, kept to what one rare waiter per address needs: a waiter checks
/// its condition under its bucket's lock, and a waker passes through that lock, so a change made
/// before the wake is either seen by the check or wakes the sleeper.
#pragma once

#include <byre/config.hpp>

#include <memory>
#include <type_traits>

namespace byre::inline v0::sync::detail {

/// A reference to what a thread asks under a lock of a table, to know whether it has to wait. Neither owns nor
/// allocates.
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

/// Blocks while `keep_waiting()`, which runs under a lock of the table and must not throw, until an
/// unpark_all of the same address; may return spuriously. Not an interruption point of
/// Boost.Thread.
BYRE_API void park(const void* address, ConditionRef keep_waiting) noexcept;

/// Wakes every thread parked at `address`. Does not touch what it points to.
BYRE_API void unpark_all(const void* address) noexcept;

template <class Condition>
inline void park(const void* address, Condition& condition) noexcept {
  park(address, ConditionRef(condition));
}

}  // namespace byre::inline v0::sync::detail
