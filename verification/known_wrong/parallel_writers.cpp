// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/parallel_writers.hpp"

namespace byre::verification {
namespace {

/// Wrong: who finds the data its own before it has the lock does without.
class LooksBeforeLock : public LoopOverStorage<2> {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    Storage& storage = handles_[index];
    std::byte* const data = storage.is_unique() ? const_cast<std::byte*>(storage.data())
                                                : storage.mutable_data_in_parallel();
    cell(data, index).set(index);
  }
};

/// Wrong: who lets go notifies first, while it is still in the list.
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

/// Wrong: what is asked is asked once, before the wait, while another may hold the lock.
class AsksOnce : public Locks {
 public:
  template <class IsDone>
  bool lock_unless(Holder& holder, const IsDone& is_done) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    bool was_done = false;
    {
      const Entered entered(bucket.mutex);
      was_done = is_done();
    }
    return Locks::lock_unless(holder, [was_done] { return was_done; });
  }
};

/// Wrong: one waiter of the bucket is woken, as one thread can have the lock.
class NotifiesOneForLock : public CheckedCondition {
 public:
  void notify_all(sync::Step step) { notify_one(step); }
};

/// Wrong: a flag in place of a table, which is cleared relaxed.
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

const Scenario* const wrong_parallel_writers_listed[] = {
    wrong<LooksBeforeLock>("known_wrong.looks_before_lock",
                           "A thread of a loop that looks for itself whether the data is its own "
                           "reads it while another replaces it.",
                           Verdict::data_race),
    wrong<WritersInParallel<2, AsksOnce>>(
        "known_wrong.asks_once",
        "One that looks before it waits reads what another replaces, and not what came of it.",
        Verdict::data_race),
    wrong<WritersInParallel<2, NotifiesBeforeLeaving>>(
        "known_wrong.notifies_before_leaving",
        "Who lets go of a lock and notifies first loses who comes to sleep in between.",
        Verdict::deadlock),
    wrong<NeighboursAreLocked<LocksOf<NotifiesOneForLock>>>(
        "known_wrong.locks_notify_one",
        "Where two addresses share a bucket, one who is woken may be the other's.",
        Verdict::deadlock, preemptions(2)),
    wrong<WritersInParallel<2, ClearsRelaxed>>(
        "known_wrong.clears_relaxed",
        "A flag that is cleared relaxed does not order the next thread after the copy.",
        Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
