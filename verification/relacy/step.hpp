// SPDX-License-Identifier: BSL-1.0
/// One step of a thread under the checker: where other threads may run in between, where a mutant
/// goes wrong, and what a trace records.
#pragma once

#include <cxxabi.h>

#include "execution.hpp"
#include "mutation.hpp"
#include "sleep_sets.hpp"
#include "trace.hpp"

namespace byre::verification {

/// Relacy's threads share one system thread, whose exceptions in flight belong to whoever runs:
/// keeps those of this thread while others may.
class ExceptionStateGuard {
 public:
  ExceptionStateGuard() noexcept { swap(); }
  ~ExceptionStateGuard() { swap(); }
  ExceptionStateGuard(const ExceptionStateGuard&) = delete;
  ExceptionStateGuard& operator=(const ExceptionStateGuard&) = delete;

  /// For a thread that begins.
  static void forget() noexcept { *globals() = {}; }

 private:
  struct Globals {  // as the C++ ABI for Itanium fixes it
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

/// Lets the others run, then lasts until the step is over, with nobody else running.
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

  /// Before the thread blocks within the step, whatever steps were within it too.
  void before_blocking() const noexcept {
    steps_ahead.set(static_cast<unsigned>(context_.current_thread()), {});
  }

  /// In the midst of a step that should not have had one.
  void let_others_run() {
    context_.enable_preemption();
    context_.sched();
    context_.disable_preemption();
  }

  /// Records the value read or left behind, and shows it to the scenario.
  void record_value(std::uint64_t value, const char* verb = nullptr) noexcept {
    if (entry_ != nullptr) [[unlikely]] {
      format_value(entry_->text, verb != nullptr ? verb : verb_, site_, value);
    }
    notify_observer(value);
  }

  /// Shows it to the scenario alone.
  void notify_observer(std::uint64_t value = 0) const noexcept {
    if (const Observer& observer = Execution::current().observer; observer.on_step != nullptr) {
      observer.on_step(observer.scenario, *site_, value);
    }
  }

 private:
  /// By what is done, which the row of a litmus test does not say.
  NextStep next_step(sync::Operation operation, const void* object) const noexcept {
    const bool is_atomic = operation <= sync::Operation::compare_exchange;
    if (is_atomic && order_ == std::memory_order::seq_cst) {
      return {};  // in one order with every other
    }
    if (operation == sync::Operation::park) {
      return {};  // its condition may read anything; and all waits share their spurious returns
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

/// Records what is no synchronizing step: an access to data, a choice of the scheduler.
/// Null where nothing is recorded.
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
