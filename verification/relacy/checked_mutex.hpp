// SPDX-License-Identifier: BSL-1.0
/// The lock of Checked, and a condition variable. Locking and unlocking are steps, so some mutants
/// leave out a lock or an unlock.
#pragma once

#include <optional>

#include "step.hpp"

namespace byre::verification {

/// A misused lock behaves like a real lock, so that a mutant fails as a real program would: a
/// thread that locks twice waits for itself, and a lock that a mutant does not unlock stays locked.
class CheckedMutex {
 public:
  CheckedMutex() { mutex_.init(true, false, false, false, {}); }
  ~CheckedMutex() {
    if (holders_ != 0) {
      fail(Verdict::use_after_free, "a lock was freed while a thread held it");
    }
    mutex_.deinit({});
    steps_ahead.end(this);
  }
  CheckedMutex(const CheckedMutex&) = delete;
  CheckedMutex& operator=(const CheckedMutex&) = delete;

  void lock(sync::Step step, CallSite where = CallSite::current()) {
    lock_as(Mode::exclusive, step, "locks", where);
  }
  void unlock(sync::Step step, CallSite where = CallSite::current()) {
    unlock_as(Mode::exclusive, step, "unlocks", where);
  }
  void lock_shared(sync::Step step, CallSite where = CallSite::current()) {
    lock_as(Mode::shared, step, "locks shared", where);
  }
  void unlock_shared(sync::Step step, CallSite where = CallSite::current()) {
    unlock_as(Mode::shared, step, "unlocks shared", where);
  }

  /// The first and the second half of a condition variable's wait. Both do nothing if a mutant has
  /// left out the lock by this thread.
  void unlock_to_wait(const StepScope& scope) {
    if ((omitted_by_ & own_bit()) == 0) {
      mutex_.unlock_exclusive(scope.info());
      holders_ &= ~own_bit();
    }
  }
  void relock_after_wait(const StepScope& scope) {
    if ((omitted_by_ & own_bit()) == 0) {
      acquire(Mode::exclusive, scope);
    }
  }

 private:
  enum class Mode : std::uint8_t { shared, exclusive };

  void lock_as(Mode mode, sync::Step step, const char* verb, CallSite where) {
    StepScope scope(step, sync::Operation::lock, this, verb, where);
    check_alive(scope);
    if (scope.change() == Change::left_out) {
      omitted_by_ |= own_bit();
      return;
    }
    if (mode == Mode::exclusive && (holders_ & own_bit()) != 0) {
      wait_for_ever(scope);
    }
    acquire(mode, scope);
  }

  void acquire(Mode mode, const StepScope& scope) {
    mode == Mode::shared ? mutex_.lock_shared(scope.info()) : mutex_.lock_exclusive(scope.info());
    if (never_unlocked_.has_value() &&
        (mode == Mode::exclusive || *never_unlocked_ == Mode::exclusive)) {
      wait_for_ever(scope);
    }
    holders_ |= own_bit();
  }

  void unlock_as(Mode mode, sync::Step step, const char* verb, CallSite where) {
    StepScope scope(step, sync::Operation::unlock, this, verb, where);
    check_alive(scope);
    if ((omitted_by_ & own_bit()) != 0) {  // a mutant left out the lock
      omitted_by_ &= ~own_bit();
      return;
    }
    mode == Mode::shared ? mutex_.unlock_shared(scope.info())
                         : mutex_.unlock_exclusive(scope.info());
    holders_ &= ~own_bit();
    if (scope.change() == Change::left_out) {
      // The lock stays locked for all later threads. Freeing it is still allowed, since a real
      // program does not detect that the lock is held.
      never_unlocked_ = mode;
    }
  }

  void check_alive(const StepScope& scope) {
    alive_.check(scope.info());  // else Relacy reports a freed lock as "not initialized"
    scope.notify_observer();
  }

  static void wait_for_ever(const StepScope& scope) {
    rl::ctx().park_current_thread(false, false, false, scope.info());
  }

  /// The bit of the running thread.
  static unsigned own_bit() noexcept { return 1U << rl::ctx().current_thread(); }

  struct Tag;
  rl::generic_mutex<Tag> mutex_;
  rl::signature<0x6279'7265> alive_;
  unsigned holders_ = 0;
  unsigned omitted_by_ = 0;             ///< a bit for each thread whose lock a mutant left out
  std::optional<Mode> never_unlocked_;  ///< the mode that a mutant never unlocks
};

/// The condition variable of the parking lot. The scheduler chooses which waits end spuriously,
/// within the limit that the execution sets.
class CheckedCondition {
 public:
  CheckedCondition() = default;
  CheckedCondition(const CheckedCondition&) = delete;
  CheckedCondition& operator=(const CheckedCondition&) = delete;

  /// Unlocking the mutex and going to sleep are one step.
  void wait(CheckedMutex& mutex, sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::park, this, "waits", where);
    scope.notify_observer();
    if (scope.change() == Change::left_out) {
      return;
    }
    Execution& execution = Execution::current();
    const bool ends_spuriously = execution.returns_spuriously();
    mutex.unlock_to_wait(scope);
    if (ends_spuriously) {
      scope.let_others_run();
    } else {
      execution.wait_at(this, where);
    }
    mutex.relock_after_wait(scope);
  }

  void notify_all(sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::unpark, this, "notifies all", where);
    scope.notify_observer();
    if (scope.change() != Change::left_out) {
      Execution::current().unpark_all(this, where);
    }
  }
  /// The scheduler chooses the thread.
  void notify_one(sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::unpark, this, "notifies one", where);
    scope.notify_observer();
    Execution::current().unpark_one(this, where);
  }
};

}  // namespace byre::verification
