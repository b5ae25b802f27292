// SPDX-License-Identifier: BSL-1.0
/// The shared-exclusive lock, and data races.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

struct PlainReads : TwoThreads {
  void thread(unsigned) { data.get(); }
  Cell data{0};
};

struct PlainReadAndWrite : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      data.get();
    } else {
      data.set(1);
    }
  }
  Cell data{0};
};

struct PlainWrites : TwoThreads {
  void thread(unsigned index) { data.set(index); }
  Cell data{0};
};

struct Exclusive : TwoThreads {
  void thread(unsigned) {
    mutex.lock(at());
    data.set(data.get() + 1);
    mutex.unlock(at());
  }
  void after() { expect(data.get() == 2, "both were alone"); }
  Checked::SharedMutex mutex;
  Cell data{0};
};

struct SharedWrites : TwoThreads {
  void thread(unsigned index) {
    mutex.lock_shared(at());
    data.set(index);
    mutex.unlock_shared(at());
  }
  Checked::SharedMutex mutex;
  Cell data{0};
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

struct SharedThenExclusive : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      mutex.lock_shared(at());
      data.get();
      mutex.unlock_shared(at());
    } else {
      mutex.lock(at());
      data.set(1);
      mutex.unlock(at());
    }
  }
  Checked::SharedMutex mutex;
  Cell data{0};
};

/// The reader comes after the writer's unlock, but no lock says so: holders of a shared lock do not
/// synchronize with each other.
struct SharedThenShared : TwoThreads {
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
  Checked::SharedMutex mutex;
  Number done{0};
  Cell data{0};
};

struct NotHeld : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      mutex.unlock(at());
    }
  }
  Checked::SharedMutex mutex;
};

struct Upgraded : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      mutex.lock_shared(at());
      mutex.lock(at());
    }
  }
  Checked::SharedMutex mutex;
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
    &litmus_test<PlainReads>("litmus.plain_reads", "Two reads of plain data are no race."),
    &litmus_test<PlainReadAndWrite>("litmus.plain_read_and_write", "A read and a write are.",
                                    Verdict::data_race),
    &litmus_test<PlainWrites>("litmus.plain_writes", "So are two writes.", Verdict::data_race),
    &litmus_test<Exclusive>("litmus.exclusive_lock", "Holders of the lock come one by one."),
    &litmus_test<SharedWrites>("litmus.shared_lock_writes", "A shared lock is none for writes.",
                               Verdict::data_race),
    &litmus_test<SharedAtOnce>("litmus.shared_lock_at_once", "Two may hold it shared."),
    &litmus_test<SharedThenExclusive>("litmus.shared_then_exclusive",
                                      "Who holds it alone comes after who held it shared."),
    &litmus_test<SharedThenShared>(
        "litmus.blind.shared_then_shared",
        "Blind spot: holders of the shared lock are ordered, which C++ does not promise, so this "
        "race is not seen. The textbook form writes under no shared lock; the stress runs under "
        "ThreadSanitizer, which knows the difference."),
    &litmus_test<NotHeld>("litmus.lock_not_held", "Nobody unlocks what is not locked.",
                          Verdict::misused_lock),
    &litmus_test<Upgraded>("litmus.lock_upgraded",
                           "Who has the lock shared and wants it alone waits for itself.",
                           Verdict::deadlock),
    &litmus_test<FreedWhileHeld>("litmus.lock_freed_while_held",
                                 "A lock outlives those who have it.", Verdict::use_after_free),
    &litmus_test<CrossedLocks>("litmus.crossed_locks", "Two locks in two orders are a deadlock.",
                               Verdict::deadlock),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
