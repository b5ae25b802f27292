// SPDX-License-Identifier: BSL-1.0
/// The shipped parking lot over the checker's mutex and condition variable.
#pragma once

#include <byre/sync/detail/basic_parking_lot.hpp>

#include "sleepers.hpp"

namespace byre::verification {

/// Two buckets in place of the 64 that ship. Behavior at one address, and at two addresses of one
/// bucket, does not depend on the number of buckets.
template <class Condition>
using LotOf = sync::detail::basic_parking_lot<CheckedMutex, Condition, 1>;
using Lot = LotOf<CheckedCondition>;

/// The Sync of the checker, except that threads park in a parking lot and not in the checker's
/// model of parking.
template <class AnyLot>
struct ParksIn : Checked {
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, sync::Step) noexcept {
    lot().park(address, keep_waiting);
  }
  static void unpark_all(const void* address, sync::Step) noexcept { lot().unpark_all(address); }

  /// The first call constructs the lot. Make this call in the set-up, so that the construction
  /// happens before all threads start.
  static AnyLot& lot() noexcept { return no_destructor<AnyLot>(); }
};

static_assert(sync::Sync<ParksIn<Lot>>);

/// The first thread changes a state that the second thread sleeps for. The second thread then
/// changes a state that the third thread sleeps for. The threads sleep at one address, or at two
/// addresses of one bucket.
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
