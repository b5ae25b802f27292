// SPDX-License-Identifier: BSL-1.0
/// Sleep sets: if executions differ only in the order of independent steps, only one of them is
/// searched. The values that threads read and the happens-before relation are equal in all of them.
///
/// At a choice of the next thread, the scheduler tries one thread after the other. When it tries a
/// thread, the threads that it tried before sleep. A sleeping thread is not chosen until another
/// thread takes a step that depends on the sleeping thread's next step.
///
/// Accesses to plain data are not steps: a race is found in either order, by happens-before. In
/// this search a weak compare-exchange does not fail spuriously: an execution with such a failure
/// would have the values and happens-before edges of an execution in which the thread runs later
/// and succeeds.
///
/// Source: P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "detector.hpp"

namespace byre::verification {

/// A thread's code up to and including its next step.
struct NextStep {
  enum class DependsOn { nothing, same_object, everything };
  DependsOn dependence = DependsOn::everything;
  const void* object = nullptr;
  bool changes_it = true;

  bool depends_on(const NextStep& other) const noexcept {
    if (dependence == DependsOn::nothing || other.dependence == DependsOn::nothing) {
      return false;
    }
    return dependence == DependsOn::everything || other.dependence == DependsOn::everything ||
           (object == other.object && (changes_it || other.changes_it));
  }
};

/// The next step of each thread, if it is known.
class StepsAhead {
 public:
  static constexpr std::size_t most_threads = 8;

  /// No thread has started, and no step depends on the code before a thread's first step.
  void begin_execution() noexcept { next_.fill({NextStep::DependsOn::nothing}); }

  /// Ignores calls from the set-up, which runs on no thread of the scenario.
  void set(unsigned thread, const NextStep& step) noexcept {
    if (thread < most_threads) {
      next_[thread] = step;
    }
  }
  const NextStep& of(unsigned thread) const noexcept { return next_[thread]; }

  /// Makes every step depend on the code that runs now, e.g. because that code frees memory.
  void depend_on_everything() noexcept { everything_ = true; }
  /// Records that the lifetime of `object` ends now. If another thread is about to use the object,
  /// every step depends on the code that runs now.
  void end(const void* object) noexcept {
    const auto mine = static_cast<std::size_t>(rl::ctx().current_thread());
    for (std::size_t thread = 0; thread < most_threads; ++thread) {
      everything_ = everything_ || (thread != mine && next_[thread].object == object);
    }
  }
  bool take_dependence_on_everything() noexcept { return std::exchange(everything_, false); }
  /// Records that the current compare-exchange has failed, so that it changed nothing.
  void change_nothing() noexcept { nothing_ = true; }
  bool take_change_of_nothing() noexcept { return std::exchange(nothing_, false); }

 private:
  std::array<NextStep, most_threads> next_{};
  bool everything_ = false;
  bool nothing_ = false;
};
inline constinit StepsAhead steps_ahead{};

/// Relacy's full search with sleep sets.
template <rl::thread_id_t Threads>
class SleepSetScheduler
    : public rl::tree_search_scheduler<SleepSetScheduler<Threads>,
                                       rl::tree_search_scheduler_thread_info<Threads>, Threads> {
  using Base = rl::tree_search_scheduler<SleepSetScheduler,
                                         rl::tree_search_scheduler_thread_info<Threads>, Threads>;

 public:
  using thread_info_t = typename Base::thread_info_t;
  using Base::Base;

  rl::thread_id_t iteration_begin_impl() {
    steps_ahead.begin_execution();
    sleeps_.fill(false);
    is_searched_already_ = false;
    const rl::thread_id_t first = Base::iteration_begin_impl();
    under_way_ = next_of(first);
    return first;
  }

  rl::thread_id_t schedule_impl(rl::unpark_reason& reason, unsigned yield) {
    if (steps_ahead.take_change_of_nothing()) {
      under_way_.changes_it = false;
    }
    // After a yield, Relacy's fairness rules restrict the choice of the thread, so the search must
    // not skip any thread.
    wake_dependent(yield != 0 || steps_ahead.take_dependence_on_everything());
    const rl::thread_id_t chosen = Base::schedule_impl(reason, yield);
    is_searched_already_ = is_searched_already_ || sleeps_[place(chosen)];
    under_way_ = next_of(chosen);
    return chosen;
  }

  /// Makes every choice of the search.
  unsigned rand_impl(unsigned count, rl::sched_type type) {
    if (is_searched_already_) {
      return 0;  // this execution is redundant: one way to its end is enough
    }
    if (type == rl::sched_type_cas_fail) {
      return 1;  // no spurious failure: see the top
    }
    return type == rl::sched_type_sched ? choose_thread(count) : Base::rand_impl(count, type);
  }

  bool can_switch(thread_info_t&) { return true; }
  void on_switch(thread_info_t&) {}
  double iteration_count_approx() { return 1; }

 private:
  static constexpr auto thread_count = static_cast<std::size_t>(Threads);

  static std::size_t place(rl::thread_id_t thread) noexcept {
    return static_cast<std::size_t>(thread);
  }
  static const NextStep& next_of(rl::thread_id_t thread) noexcept {
    return steps_ahead.of(static_cast<unsigned>(thread));
  }

  void wake_dependent(bool all) noexcept {
    for (rl::thread_id_t thread = 0; thread < Threads; ++thread) {
      if (all || under_way_.depends_on(next_of(thread))) {
        sleeps_[place(thread)] = false;
      }
    }
  }

  /// The index of the thread to run among the `count` that can run.
  unsigned choose_thread(unsigned count) {
    std::array<unsigned, thread_count> awake{};
    unsigned awake_count = 0;
    for (unsigned at = 0; at < count; ++at) {
      const rl::thread_id_t thread = this->running_threads[at];
      if (next_of(thread).dependence == NextStep::DependsOn::nothing) {
        return at;  // the thread's code before its first step commutes with every step
      }
      if (!sleeps_[place(thread)]) {
        awake[awake_count++] = at;
      }
    }
    if (awake_count == 0) {
      return 0;  // all sleep: this execution is redundant
    }
    const unsigned chosen =
        awake_count == 1 ? 0 : Base::rand_impl(awake_count, rl::sched_type_sched);
    for (unsigned before = 0; before < chosen; ++before) {
      sleeps_[place(this->running_threads[awake[before]])] = true;
    }
    return awake[chosen];
  }

  std::array<bool, thread_count> sleeps_{};
  bool is_searched_already_ = false;
  NextStep under_way_;
};

}  // namespace byre::verification
