// SPDX-License-Identifier: BSL-1.0
/// CheckedMutex: the lock of Checked. To take it and to let go of it are steps like any other, so
/// mutants leave them out or swap them with their neighbours.
#pragma once

#include "step.hpp"

namespace byre::verification {

class CheckedMutex {
 public:
  CheckedMutex() { mutex_.init(true, false, false, false, {}); }
  ~CheckedMutex() { mutex_.deinit({}); }
  CheckedMutex(const CheckedMutex&) = delete;
  CheckedMutex& operator=(const CheckedMutex&) = delete;

  void lock(sync::Step step, CallSite where = CallSite::current()) {
    if (!is_held_back<&CheckedMutex::lock>(step, where)) {
      take(step, "locks", where, [&](auto info) { mutex_.lock_exclusive(info); });
      Execution::current().held.locked(later<&CheckedMutex::unlock>(step, where));
    }
  }
  void unlock(sync::Step step, CallSite where = CallSite::current()) {
    if (!is_held_back<&CheckedMutex::unlock>(step, where)) {
      take(step, "unlocks", where, [&](auto info) { mutex_.unlock_exclusive(info); });
    }
  }
  void lock_shared(sync::Step step, CallSite where = CallSite::current()) {
    if (!is_held_back<&CheckedMutex::lock_shared>(step, where)) {
      take(step, "locks shared", where, [&](auto info) { mutex_.lock_shared(info); });
      Execution::current().held.locked(later<&CheckedMutex::unlock_shared>(step, where));
    }
  }
  void unlock_shared(sync::Step step, CallSite where = CallSite::current()) {
    if (!is_held_back<&CheckedMutex::unlock_shared>(step, where)) {
      take(step, "unlocks shared", where, [&](auto info) { mutex_.unlock_shared(info); });
    }
  }

 private:
  template <auto Take>
  HeldStep later(sync::Step step, CallSite where) noexcept {
    return {[](const HeldStep& held) {
              (static_cast<CheckedMutex*>(held.object)->*Take)(held.step, held.where);
            },
            this, 0, step, where};
  }
  /// To be done later, or done before.
  template <auto Take>
  bool is_held_back(sync::Step step, CallSite where) noexcept {
    HeldSteps& held = Execution::current().held;
    return held.is_done(*step.site) || held.keep(later<Take>(step, where));
  }

  template <class Take>
  void take(sync::Step step, const char* verb, CallSite where, Take&& take) {
    StepScope scope(step, this, verb, where);
    alive_.check(scope.info());  // else Relacy would say "not initialized"
    scope.tell();
    if (scope.change() != Change::left_out) {
      take(scope.info());
    }
  }

  struct Tag;
  rl::generic_mutex<Tag> mutex_;
  rl::signature<0x6279'7265> alive_;
};

}  // namespace byre::verification
