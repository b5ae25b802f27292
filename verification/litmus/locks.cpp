// SPDX-License-Identifier: BSL-1.0
/// The shared-exclusive lock, and data races.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

struct Locked {
  Checked::SharedMutex mutex;
  Cell data{0};
};
/// By holders of the lock, shared or not.
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
  void after() { expect(data.get() == 2, "both were alone"); }
};

struct SharedAtOnce : TwoThreads {
  static constexpr Outcome outcomes[] = {{"one after the other", Fate::seen},
                                         {"both hold it at once", Fate::seen}};

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

/// The reader comes after the writer's unlock, but no lock says so: holders of a shared lock do not
/// synchronize with each other.
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

const Scenario* const locks_tests[] = {
    litmus_test<Both<Locked, read_plain>>("litmus.plain_reads",
                                          "Two reads of plain data are no race."),
    litmus_test<Two<Locked, read_plain, write_plain>>(
        "litmus.plain_read_and_write", "A read and a write are.", Verdict::data_race),
    litmus_test<Both<Locked, write_plain>>("litmus.plain_writes", "So are two writes.",
                                           Verdict::data_race),
    litmus_test<Exclusive>("litmus.exclusive_lock", "Holders of the lock come one by one."),
    litmus_test<Both<Locked, write_shared>>("litmus.shared_lock_writes",
                                            "A shared lock does not keep writes apart.",
                                            Verdict::data_race),
    litmus_test<SharedAtOnce>("litmus.shared_lock_at_once", "Two may hold it shared."),
    litmus_test<Two<Locked, read_shared, write_alone>>(
        "litmus.shared_then_exclusive",
        "An exclusive holder comes after the shared holders before it."),
    litmus_test<SharedThenShared>(
        "litmus.blind.shared_then_shared",
        "Blind spot: holders of the shared lock are ordered, which C++ does not promise, so this "
        "race is not seen. The textbook form writes under no shared lock; the stress runs under "
        "ThreadSanitizer, which knows the difference."),
    litmus_test<Two<Locked, unlock_free, nothing>>("litmus.lock_not_held",
                                                   "A lock that is not held cannot be unlocked.",
                                                   Verdict::misused_lock),
    litmus_test<Two<Locked, upgrade, nothing>>(
        "litmus.lock_upgraded", "A shared holder that wants the lock exclusively waits for itself.",
        Verdict::deadlock),
    litmus_test<FreedWhileHeld>("litmus.lock_freed_while_held",
                                "A lock outlives those who have it.", Verdict::use_after_free),
    litmus_test<CrossedLocks>("litmus.crossed_locks", "Two locks in two orders are a deadlock.",
                              Verdict::deadlock),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
