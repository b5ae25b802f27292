// SPDX-License-Identifier: BSL-1.0
/// Known-wrong ways to wait and to wake, in a parking lot, in a table of locks and in the share
/// word. Two or three threads wait for each other: the checker has to find a deadlock (e.g. by a
/// lost wake), a race, or a use after free.
#include "../scenarios/owners.hpp"
#include "../scenarios/parallel_writers.hpp"
#include "../scenarios/parking_lots.hpp"
#include "published_protocols.hpp"
#include "wrong_syncs.hpp"

namespace byre::verification {
namespace {

/// Wrong: checks the condition before it takes the lock.
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

/// Wrong: the waker takes no lock, on the assumption that an atomic change of the state suffices.
class WakesWithoutLock : public Lot {
 public:
  void unpark_all(const void* address) {
    buckets_[bucket_of(address)].condition.notify_all(sites.at(At::notify));
  }
};

/// Wrong: the waker notifies before it passes through the lock.
class WakesBeforeLock : public Lot {
 public:
  void unpark_all(const void* address) {
    Bucket& bucket = buckets_[bucket_of(address)];
    bucket.condition.notify_all(sites.at(At::notify));
    bucket.mutex.lock(sites.at(At::lock_to_wake));
    bucket.mutex.unlock(sites.at(At::unlock_to_wake));
  }
};

/// Wrong: wakes only one waiter of the bucket, on the assumption that an address rarely has more
/// waiters, or that only one thread can take the lock.
class NotifiesOne : public CheckedCondition {
 public:
  void notify_all(sync::Step step) { notify_one(step); }
};

template <class AnyLot>
using SleeperIn = WithCoverPoints<SleepersAreWoken<1, ParksIn<AnyLot>>>;

/// Wrong: checks the condition, and then parks without a second check.
class ParksWithoutRecheck : public WithCoverPoints<SleepersAreWoken<1>> {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      event_.happen();
    } else if (!event_.has_happened()) {
      Checked::park(
          event_.address, [] { return true; }, step_of<"sleeper.park">());
    }
  }
};

/// Wrong: a thread that finds the storage unique skips the lock.
class LooksBeforeLock : public TwoThreads, public LoopOverStorage<2> {
 public:
  void thread(unsigned index) {
    Storage& storage = handles_[index];
    std::byte* const data = storage.is_unique() ? const_cast<std::byte*>(storage.data())
                                                : storage.mutable_data_in_parallel();
    cell(data, index).set(index);
  }
};

/// Wrong: the holder of a lock notifies while it is still in the list of holders.
class NotifiesBeforeLeaving : public Locks {
 public:
  void unlock(Holder& holder) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    bucket.condition.notify_all(sites.at(At::notify));
    bucket.mutex.lock(sites.at(At::lock_to_leave));
    bucket.remove(holder);
    bucket.mutex.unlock(sites.at(At::unlock_left));
  }
};

/// Wrong: evaluates is_done only once, before the wait. Another thread may hold the lock at that
/// time.
class ChecksBeforeWaiting : public Locks {
 public:
  template <class IsDone>
  bool lock_unless(Holder& holder, const IsDone& is_done) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    bool was_done = false;
    {
      const BucketLock lock(bucket.mutex);
      was_done = is_done();
    }
    return Locks::lock_unless(holder, [was_done] { return was_done; });
  }
};

/// Wrong: replaces the table of locks by a flag, which a relaxed store clears.
class ClearsRelaxed {
 public:
  using Holder = Locks::Holder;

  template <class IsDone>
  bool lock_unless(Holder&, const IsDone& is_done) {
    std::uint32_t clear = 0;
    while (!taken_.compare_exchange_weak(clear, 1, step_of<"flag.take">(acquire))) {
      clear = 0;
      Checked::pause();
    }
    if (is_done()) {
      clear_flag();
      return false;
    }
    return true;
  }
  void unlock(Holder&) { clear_flag(); }

 private:
  void clear_flag() { taken_.store(0, step_of<"flag.clear">(relaxed)); }

  Checked::Atomic<std::uint32_t> taken_{0};
};

const Scenario* const known_wrong_waiting[] = {
    known_wrong<SleeperIn<ChecksBeforeLock>>(
        "known_wrong.lot_checks_before_lock",
        "A parking lot that checks the condition outside its lock loses a wake after the check.",
        Verdict::deadlock),
    known_wrong<SleeperIn<WakesWithoutLock>>(
        "known_wrong.lot_wakes_without_lock",
        "A waker that does not pass through the lock may notify before the waiter sleeps.",
        Verdict::deadlock),
    known_wrong<SleeperIn<WakesBeforeLock>>("known_wrong.lot_wakes_before_lock",
                                            "A waker that passes through the lock only after the "
                                            "notification may notify before the waiter sleeps.",
                                            Verdict::deadlock),
    known_wrong<SleepersWakeSleepers<LotOf<NotifiesOne>>>(
        "known_wrong.lot_notifies_one",
        "If two addresses share a bucket, the one woken thread may wait at the other address.",
        Verdict::deadlock, 2),
    known_wrong<ParksWithoutRecheck>(
        "known_wrong.parks_without_recheck",
        "A thread that sleeps without a second check misses a wake: parking promises that check.",
        Verdict::deadlock),
    known_wrong<ClaimsStealOnce<2, basic_share_word<ListInHeader<Checked>>>>(
        "known_wrong.wakes_through_header",
        "A waker that reads the header accesses memory that the waiter has freed: I2.",
        Verdict::use_after_free),
    known_wrong<DropsEndFirst<DropWaitsForCopies<Checked>>>(
        "known_wrong.drop_waits_for_copies",
        "A drop that waits for copies deadlocks with a copy that waits for the drop: promise 4.",
        Verdict::deadlock),
    known_wrong<LooksBeforeLock>("known_wrong.looks_before_lock",
                                 "A thread of a loop that checks for a unique storage without the "
                                 "lock reads pointers that another thread replaces.",
                                 Verdict::data_race),
    known_wrong<WritersInParallel<2, ChecksBeforeWaiting>>(
        "known_wrong.checks_before_waiting",
        "A thread that evaluates is_done before it waits reads pointers that another thread "
        "replaces, and misses the result.",
        Verdict::data_race),
    known_wrong<WritersInParallel<2, NotifiesBeforeLeaving>>(
        "known_wrong.notifies_before_leaving",
        "If a holder notifies before it leaves the list, a thread that goes to sleep in between is "
        "never woken.",
        Verdict::deadlock),
    known_wrong<NeighboursAreLocked<LocksOf<NotifiesOne>>>(
        "known_wrong.locks_notify_one",
        "If two addresses share a bucket, the one woken thread may wait at the other address.",
        Verdict::deadlock, 2),
    known_wrong<WritersInParallel<2, ClearsRelaxed>>(
        "known_wrong.clears_relaxed",
        "A flag that is cleared by a relaxed store does not order the next thread after the copy.",
        Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
