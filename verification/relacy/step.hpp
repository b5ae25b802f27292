// SPDX-License-Identifier: BSL-1.0
/// One step of a thread under the checker. At each step other threads may be scheduled, the active
/// mutant is applied, and the trace is recorded.
#pragma once

#include <cxxabi.h>

#include "execution.hpp"
#include "mutation.hpp"
#include "sleep_sets.hpp"
#include "trace.hpp"

namespace byre::verification {

/// Relacy's threads share one system thread and with it the C++ runtime's exception state. This
/// guard saves the state of one Relacy thread while others may run.
class ExceptionStateGuard {
 public:
  ExceptionStateGuard() noexcept { swap(); }
  ~ExceptionStateGuard() { swap(); }
  ExceptionStateGuard(const ExceptionStateGuard&) = delete;
  ExceptionStateGuard& operator=(const ExceptionStateGuard&) = delete;

  /// Clears the state. Called when a thread starts.
  static void forget() noexcept { *globals() = {}; }

 private:
  struct Globals {  // the layout that the Itanium C++ ABI specifies
    void* caught = nullptr;
    unsigned uncaught_count = 0;
  };
  static Globals* globals() noexcept {
    return reinterpret_cast<Globals*>(abi::__cxa_get_globals());
  }
  void swap() noexcept { std::swap(*globals(), kept_); }

  Globals kept_;
};

inline rl::memory_order to_relacy(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order::relaxed:
      return rl::mo_relaxed;
    case std::memory_order::consume:
    case std::memory_order::acquire:
      return rl::mo_acquire;
    case std::memory_order::release:
      return rl::mo_release;
    case std::memory_order::acq_rel:
      return rl::mo_acq_rel;
    case std::memory_order::seq_cst:
      break;
  }
  return rl::mo_seq_cst;
}

/// The scope of one step. Its constructor first lets other threads run. From then until the
/// destructor no other thread runs.
class StepScope {
 public:
  StepScope(sync::Step step, sync::Operation operation, const void* object, const char* verb,
            CallSite where)
      : site_(step.site), verb_(verb), where_(where), order_(step.order) {
    mark_reached(*site_);
    if (active_mutation.site == site_) [[unlikely]] {
      change_ = active_mutation.change;
      if (change_ == Change::weaker) {
        order_ = active_mutation.order;
      }
    }
    steps_ahead.set(static_cast<unsigned>(context_.current_thread()), next_step(operation, object));
    context_.sched();
    context_.disable_preemption();
    record(object);
  }
  ~StepScope() { context_.enable_preemption(); }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

  Change change() const noexcept { return change_; }
  std::memory_order order() const noexcept { return order_; }
  rl::memory_order relacy_order() const noexcept { return to_relacy(order_); }
  rl::debug_info info() const noexcept { return to_relacy(where_); }

  /// Call before the thread blocks within the step. When the thread wakes, the rest of its step
  /// depends on everything.
  void before_blocking() const noexcept {
    steps_ahead.set(static_cast<unsigned>(context_.current_thread()), {});
  }

  /// Lets other threads run in the middle of a step that a mutant has split.
  void let_others_run() {
    context_.enable_preemption();
    context_.sched();
    context_.disable_preemption();
  }

  /// Records the value that was read or stored, and passes it to the scenario.
  template <class Value>
  void record_value(Value of_any_sign, const char* verb = nullptr) noexcept {
    const auto value = static_cast<std::uint64_t>(of_any_sign);
    if (entry_ != nullptr) [[unlikely]] {
      format_value(entry_->text, verb != nullptr ? verb : verb_, site_, value);
    }
    notify_observer(value);
  }

  /// Passes a value to the scenario without recording it.
  void notify_observer(std::uint64_t value = 0) const noexcept {
    if (const Observer& observer = Execution::current().observer; observer.on_step != nullptr) {
      observer.on_step(observer.scenario, *site_, value);
    }
  }

 private:
  /// Uses `operation` in place of the site's operation, which is a placeholder in sites outside
  /// core.
  NextStep next_step(sync::Operation operation, const void* object) const noexcept {
    const bool is_atomic = operation <= sync::Operation::compare_exchange;
    if (is_atomic && order_ == std::memory_order::seq_cst) {
      return {};  // depends on everything: seq_cst steps are in one total order
    }
    if (operation == sync::Operation::park) {
      // Depends on everything: the condition of the wait may read any object, and all waits share
      // one limit of spurious returns.
      return {};
    }
    return {NextStep::DependsOn::same_object, object, operation != sync::Operation::load};
  }

  void record(const void* object) noexcept {
    if (!trace.is_recording()) [[likely]] {
      return;
    }
    entry_ = &trace.add(static_cast<unsigned>(context_.current_thread()));
    entry_->where = where_;
    entry_->site = site_;
    Execution::current().name_of(object, entry_->object);
    std::snprintf(entry_->text.data(), entry_->text.size(), "%s", verb_);
  }

  ExceptionStateGuard exceptions_;
  rl::context& context_ = rl::ctx();
  const sync::Site* site_;
  const char* verb_;
  const CallSite where_;
  std::memory_order order_;
  Change change_ = Change::none;
  TraceEntry* entry_ = nullptr;
};

/// Records an event other than a synchronizing step: an access to data, or a choice of the
/// scheduler. Returns null if no trace is recorded.
inline TraceEntry* record_event(const void* object, CallSite where, const char* verb) noexcept {
  if (!trace.is_recording()) [[likely]] {
    return nullptr;
  }
  TraceEntry& entry = trace.add(static_cast<unsigned>(rl::ctx().current_thread()));
  entry.where = where;
  Execution::current().name_of(object, entry.object);
  std::snprintf(entry.text.data(), entry.text.size(), "%s", verb);
  return &entry;
}

}  // namespace byre::verification
