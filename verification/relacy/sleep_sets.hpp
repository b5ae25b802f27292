// SPDX-License-Identifier: BSL-1.0
/// Sleep sets: of all executions that differ only in the order of independent steps, one is searched.
/// They all show the same: who reads what, and what happens before what.
///
/// Where the scheduler chooses between threads, those it chose before sleep in the executions that
/// follow, until somebody takes a step that depends on the one they are about to take. Accesses to
/// plain data are no steps: a race of two of them is seen in either order, by what happens before
/// what. A weak compare-exchange does not fail spuriously here: what it would read and synchronize
/// with, it does in an execution where the thread comes later and does not fail.
/// Source: P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "detector.hpp"

namespace byre::verification {

/// What a thread does up to its next step, that one included.
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

/// What each thread is about to do, as far as it is known.
class StepsAhead {
 public:
  static constexpr std::size_t most_threads = 8;

  /// Threads that have not begun: nothing depends on what is before their first step.
  void begin_execution() noexcept { next_.fill({NextStep::DependsOn::nothing}); }

  /// The set-up is no thread, and has no others beside it.
  void set(unsigned thread, const NextStep& step) noexcept {
    if (thread < most_threads) {
      next_[thread] = step;
    }
  }
  const NextStep& of(unsigned thread) const noexcept { return next_[thread]; }

  /// Every step depends on what runs now, whatever its own step is: it frees memory.
  void depend_on_everything() noexcept { everything_ = true; }
  /// So does the step of who is about to use this object, which ends now.
  void end(const void* object) noexcept {
    const auto mine = static_cast<std::size_t>(rl::ctx().current_thread());
    for (std::size_t thread = 0; thread < most_threads; ++thread) {
      everything_ = everything_ || (thread != mine && next_[thread].object == object);
    }
  }
  bool take_dependence_on_everything() noexcept { return std::exchange(everything_, false); }
  /// The compare-exchange under way failed.
  void change_nothing() noexcept { nothing_ = true; }
  bool take_change_of_nothing() noexcept { return std::exchange(nothing_, false); }

 private:
  std::array<NextStep, most_threads> next_{};
  bool everything_ = false;
  bool nothing_ = false;
};
inline constinit StepsAhead steps_ahead{};

/// Relacy's full search, with sleep sets.
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
    // A wait that is over by Relacy's rules of fairness is no choice that could be left out.
    wake_dependent(yield != 0 || steps_ahead.take_dependence_on_everything());
    const rl::thread_id_t chosen = Base::schedule_impl(reason, yield);
    is_searched_already_ = is_searched_already_ || sleeps_[place(chosen)];
    under_way_ = next_of(chosen);
    return chosen;
  }

  /// Every choice of the search.
  unsigned rand_impl(unsigned count, rl::sched_type type) {
    if (is_searched_already_) {
      return 0;  // one way to its end is enough
    }
    if (type == rl::sched_type_cas_fail) {
      return 1;  // it does not fail spuriously: see above
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

  /// The place of the thread to run among the `count` that can.
  unsigned choose_thread(unsigned count) {
    std::array<unsigned, thread_count> awake{};
    unsigned awake_count = 0;
    for (unsigned at = 0; at < count; ++at) {
      const rl::thread_id_t thread = this->running_threads[at];
      if (next_of(thread).dependence == NextStep::DependsOn::nothing) {
        return at;  // whenever it does that, it is the same
      }
      if (!sleeps_[place(thread)]) {
        awake[awake_count++] = at;
      }
    }
    if (awake_count == 0) {
      return 0;  // all sleep: this was searched, with that thread first
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
