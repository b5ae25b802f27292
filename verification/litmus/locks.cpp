// SPDX-License-Identifier: BSL-1.0
/// Litmus tests of the shared-exclusive lock, of data races, and of release sequences that continue
/// through other threads' steps.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

struct Locked {
  Checked::SharedMutex mutex;
  Cell data{0};
};
/// Accesses by holders of the lock, and accesses without the lock.
constexpr auto read_shared = [](Locked& locked) {
  locked.mutex.lock_shared(at());
  locked.data.get();
  locked.mutex.unlock_shared(at());
};
constexpr auto write_shared = [](Locked& locked) {
  locked.mutex.lock_shared(at());
  locked.data.set(1);
  locked.mutex.unlock_shared(at());
};
constexpr auto write_alone = [](Locked& locked) {
  locked.mutex.lock(at());
  locked.data.set(1);
  locked.mutex.unlock(at());
};
constexpr auto read_plain = [](Locked& locked) { locked.data.get(); };
constexpr auto write_plain = [](Locked& locked) { locked.data.set(1); };

struct Exclusive : TwoThreads, Locked {
  void thread(unsigned) {
    mutex.lock(at());
    data.set(data.get() + 1);
    mutex.unlock(at());
  }
  void after() { expect(data.get() == 2, "an exclusive holder is the only one"); }
};

struct SharedAtOnce : TwoThreads {
  static constexpr Outcome outcomes[] = {{"one after the other", Fate::seen},
                                         {"both hold the lock at once", Fate::seen}};

  void thread(unsigned) {
    mutex.lock_shared(at());
    both = inside.fetch_add(1, at(relaxed)) == 1 || both;
    inside.fetch_sub(1, at(relaxed));
    mutex.unlock_shared(at());
  }
  std::size_t outcome() const { return both ? 1 : 0; }

  Checked::SharedMutex mutex;
  Number inside{0};
  bool both = false;
};

/// The reader runs after the writer's unlock, but the lock does not order their accesses: holders
/// of a shared lock do not synchronize with each other.
struct SharedThenShared : TwoThreads, Locked {
  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      mutex.lock_shared(at());
      mutex.unlock_shared(at());
      done.store(1, at(relaxed));
    } else if (done.load(at(relaxed)) == 1) {
      mutex.lock_shared(at());
      mutex.unlock_shared(at());
      data.get();
    }
  }
  Number done{0};
};

constexpr auto unlock_free = [](Locked& locked) { locked.mutex.unlock(at()); };
constexpr auto upgrade = [](Locked& locked) {
  locked.mutex.lock_shared(at());
  locked.mutex.lock(at());
};

struct FreedWhileHeld : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      mutex->lock_shared(at());
      held.store(1, at(relaxed));
      mutex->unlock_shared(at());
    } else if (held.load(at(relaxed)) == 1) {
      mutex.reset();
    }
  }
  std::optional<Checked::SharedMutex> mutex{std::in_place};
  Number held{0};
};

struct CrossedLocks : TwoThreads {
  void thread(unsigned index) {
    mutexes[index].lock(at());
    mutexes[1 - index].lock(at());
    mutexes[1 - index].unlock(at());
    mutexes[index].unlock(at());
  }
  Checked::SharedMutex mutexes[2];
};

/// Thread 0 publishes data by a store to `number`, thread 1 changes `number`, and thread 2 acquires
/// the changed `number`.
template <std::memory_order Published, auto Change>
struct Relay {
  static constexpr unsigned threads = 3;

  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      number.store(1, at(Published));
    } else if (index == 1) {
      Change(number);
    } else if (number.load(at(acquire)) == 2) {
      expect(data.get() == 1, "the acquiring thread reads the released data");
    }
  }

  Cell data{0};
  Number number{0};
};

using ThroughReadModifyWrite =
    Relay<release, [](Number& number) { number.fetch_add(1, at(relaxed)); }>;
using ThroughCompareExchange = Relay<release, [](Number& number) {
  std::uint32_t expected = 1;
  number.compare_exchange_weak(expected, 2, at(relaxed));
}>;
using ThroughExchange = Relay<release, [](Number& number) {
  if (number.load(at(relaxed)) == 1) {
    number.exchange(2, at(relaxed));
  }
}>;
using NotThroughStore = Relay<release, [](Number& number) {
  if (number.load(at(relaxed)) == 1) {
    number.store(2, at(relaxed));
  }
}>;
using NotFromRelaxed = Relay<relaxed, [](Number& number) { number.fetch_add(1, at(acq_rel)); }>;

/// The releasing thread makes a second store, which is relaxed. The other thread acquires that
/// store.
struct PastOwnStore : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      number.store(1, at(release));
      number.store(2, at(relaxed));
    } else if (number.load(at(acquire)) == 2) {
      expect(data.get() == 1, "the acquiring thread reads the released data");
    }
  }

  Cell data{0};
  Number number{0};
};

/// The count of a shared object: each thread reads the object and counts down, and the last thread
/// writes the object.
template <std::memory_order Order>
struct CountedDown {
  static constexpr unsigned threads = 3;

  void thread(unsigned) {
    data.get();
    if (number.fetch_sub(1, at(Order)) == 1) {
      data.set(1);
    }
  }

  Cell data{0};
  Number number{3};
};

const Scenario* const locks_tests[] = {
    litmus_test<Both<Locked, read_plain>>("litmus.plain_reads",
                                          "Two reads of plain data are no race."),
    litmus_test<Two<Locked, read_plain, write_plain>>(
        "litmus.plain_read_and_write", "A read and a write of plain data are a race.",
        Verdict::data_race),
    litmus_test<Both<Locked, write_plain>>(
        "litmus.plain_writes", "Two writes of plain data are a race.", Verdict::data_race),
    litmus_test<Exclusive>("litmus.exclusive_lock",
                           "Holders of the exclusive lock run one after the other."),
    litmus_test<Both<Locked, write_shared>>(
        "litmus.shared_lock_writes", "A shared lock does not order writes.", Verdict::data_race),
    litmus_test<SharedAtOnce>("litmus.shared_lock_at_once",
                              "Two threads may hold the lock shared at once."),
    litmus_test<Two<Locked, read_shared, write_alone>>(
        "litmus.shared_then_exclusive",
        "An exclusive holder happens after the shared holders before it."),
    litmus_test<SharedThenShared>(
        "litmus.blind.shared_then_shared",
        "Blind spot: the checker orders holders of the shared lock, which C++ does not, so this "
        "race is not found. The textbook form never writes under a shared lock. The stress runs "
        "use "
        "ThreadSanitizer, which does not order these holders."),
    litmus_test<Two<Locked, unlock_free, nothing>>(
        "litmus.lock_not_held", "A thread must not unlock a lock that it does not hold.",
        Verdict::misused_lock),
    litmus_test<Two<Locked, upgrade, nothing>>(
        "litmus.lock_upgraded", "A shared holder that locks exclusively waits for itself.",
        Verdict::deadlock),
    litmus_test<FreedWhileHeld>("litmus.lock_freed_while_held",
                                "A lock must not be freed while a thread holds it.",
                                Verdict::use_after_free),
    litmus_test<CrossedLocks>("litmus.crossed_locks",
                              "Two locks that are taken in two orders deadlock.",
                              Verdict::deadlock),
    litmus_test<ThroughReadModifyWrite>(
        "litmus.release_through_add",
        "A release sequence continues through another thread's relaxed addition."),
    litmus_test<ThroughCompareExchange>(
        "litmus.release_through_exchange",
        "A release sequence continues through another thread's relaxed compare-exchange."),
    litmus_test<ThroughExchange>(
        "litmus.release_through_plain_exchange",
        "A release sequence continues through another thread's relaxed exchange."),
    litmus_test<NotThroughStore>("litmus.release_cut_by_store",
                                 "Another thread's relaxed store ends a release sequence.",
                                 Verdict::data_race),
    litmus_test<NotFromRelaxed>(
        "litmus.release_after_the_fact",
        "A later release by another thread does not replace a missing release.",
        Verdict::data_race),
    litmus_test<PastOwnStore>(
        "litmus.blind.own_relaxed_store",
        "Blind spot: since C++20 a relaxed store by the releasing thread also ends the release "
        "sequence, so this is a race. The only store in core is by the only user of the word: I7."),
    litmus_test<CountedDown<acq_rel>>("litmus.count_down_acq_rel",
                                      "The last thread of a count-down happens after all others."),
    litmus_test<CountedDown<acquire>>("litmus.count_down_acquire",
                                      "Without the releases the last thread of a count-down races.",
                                      Verdict::data_race),
    litmus_test<CountedDown<release>>("litmus.count_down_release",
                                      "Without the acquire the last thread of a count-down races.",
                                      Verdict::data_race),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
