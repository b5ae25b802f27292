// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/parking_lots.hpp"

namespace byre::verification {
namespace {

/// Wrong: the condition is checked first, and the lock taken then.
class ChecksBeforeLock : public Lot {
 public:
  template <class KeepWaiting>
  void park(const void* address, const KeepWaiting& keep_waiting) {
    if (keep_waiting()) {
      const auto has_to_wait = [] { return true; };
      Lot::park(address, has_to_wait);
    }
  }
};

/// Wrong: the waker takes no lock, as it has changed the state by an atomic step.
class WakesWithoutLock : public Lot {
 public:
  void unpark_all(const void* address) {
    buckets_[bucket_of(address)].condition.notify_all(sites.at(At::notify));
  }
};

/// Wrong: the wake is sent before the lock is passed through.
class WakesBeforeLock : public Lot {
 public:
  void unpark_all(const void* address) {
    Bucket& bucket = buckets_[bucket_of(address)];
    bucket.condition.notify_all(sites.at(At::notify));
    bucket.mutex.lock(sites.at(At::lock_to_wake));
    bucket.mutex.unlock(sites.at(At::unlock_to_wake));
  }
};

/// Wrong: one waiter of the bucket is woken, as there is one rare waiter for an address.
class NotifiesOne : public CheckedCondition {
 public:
  void notify_all(sync::Step step) { notify_one(step); }
};

template <class AnyLot>
class SleeperIn : public SleepersAreWoken<1, ParksIn<AnyLot>> {
 public:
  static constexpr std::span<const std::string_view> cover_points{};

  SleeperIn() { ParksIn<AnyLot>::lot(); }
};

}  // namespace

const Scenario lot_checks_before_lock = scenario<SleeperIn<ChecksBeforeLock>>({
    .name = "known_wrong.lot_checks_before_lock",
    .shows = "A lot that checks the condition outside its lock loses a wake after the check.",
    .expected = Verdict::deadlock,
});

const Scenario lot_wakes_without_lock = scenario<SleeperIn<WakesWithoutLock>>({
    .name = "known_wrong.lot_wakes_without_lock",
    .shows = "A waker that does not pass through the lock wakes who does not sleep yet.",
    .expected = Verdict::deadlock,
});

const Scenario lot_wakes_before_lock = scenario<SleeperIn<WakesBeforeLock>>({
    .name = "known_wrong.lot_wakes_before_lock",
    .shows = "So does one that passes through it afterwards.",
    .expected = Verdict::deadlock,
});

const Scenario lot_notifies_one = scenario<NeighboursWakeEachOther<LotOf<NotifiesOne>>>({
    .name = "known_wrong.lot_notifies_one",
    .shows = "Where two addresses share a bucket, one who is woken may be the other's.",
    .quick = preemptions(2),
    .deep = preemptions(2),
    .expected = Verdict::deadlock,
});

}  // namespace byre::verification
