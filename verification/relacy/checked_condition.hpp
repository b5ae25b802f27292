// SPDX-License-Identifier: BSL-1.0
/// CheckedCondition: the condition variable of the parking lot under the checker. Its waits end
/// spuriously as often as the execution allows.
#pragma once

#include "checked_mutex.hpp"

namespace byre::verification {

class CheckedCondition {
 public:
  CheckedCondition() = default;
  CheckedCondition(const CheckedCondition&) = delete;
  CheckedCondition& operator=(const CheckedCondition&) = delete;

  /// To let go of the mutex and to sleep are one step.
  void wait(CheckedMutex& mutex, sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::park, this, "waits", where);
    scope.tell();
    if (scope.change() == Change::left_out) {
      return;
    }
    Execution& execution = Execution::current();
    const bool ends_spuriously = execution.returns_spuriously();
    mutex.let_go_to_wait(scope);
    if (ends_spuriously) {
      scope.let_others_run();
    } else {
      execution.wait_at(this, where);
    }
    mutex.take_after_wait(scope);
  }

  void notify_all(sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::unpark, this, "notifies all", where);
    scope.tell();
    if (scope.change() != Change::left_out) {
      Execution::current().unpark_all(this, where);
    }
  }
  /// The scheduler chooses whom.
  void notify_one(sync::Step step, CallSite where = CallSite::current()) {
    StepScope scope(step, sync::Operation::unpark, this, "notifies one", where);
    scope.tell();
    Execution::current().unpark_one(this, where);
  }
};

}  // namespace byre::verification
