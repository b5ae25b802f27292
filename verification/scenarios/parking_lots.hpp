// SPDX-License-Identifier: BSL-1.0
/// The parking lot that ships, over the checker's mutex and condition variable.
#pragma once

#include <byre/sync/detail/basic_parking_lot.hpp>

#include "sleepers.hpp"

namespace byre::verification {

/// Of two buckets, where 64 ship: what is at one address, and at two in one bucket, is all the same.
template <class Condition>
using LotOf = sync::detail::basic_parking_lot<CheckedMutex, Condition, 1>;
using Lot = LotOf<CheckedCondition>;

/// Checked, but that threads park in a lot in place of the model of one.
template <class AnyLot>
struct ParksIn : Checked {
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, sync::Step) noexcept {
    lot().park(address, keep_waiting);
  }
  static void unpark_all(const void* address, sync::Step) noexcept { lot().unpark_all(address); }

  /// Made by the first call, which ought to be of the set-up: whoever comes later comes after.
  static AnyLot& lot() noexcept { return no_destructor<AnyLot>(); }
};

static_assert(sync::Sync<ParksIn<Lot>>);

/// The second thread waits for the first, and then changes a state that the third waits for: at one address, or at two
/// of one bucket.
template <class AnyLot, bool OneAddress = false>
class SleepersWakeSleepers {
 public:
  static constexpr unsigned threads = 3;

  void thread(unsigned index) {
    if (index != 0) {
      events_[index - 1].await();
    }
    if (index != 2) {
      events_[index].happen();
    }
  }

 private:
  using EventInLot = Event<ParksIn<AnyLot>>;

  EventInLot events_[2] = {EventInLot(address_in<Lot>(0)),
                           EventInLot(address_in<Lot>(0, OneAddress ? 0 : 1))};
};

}  // namespace byre::verification
