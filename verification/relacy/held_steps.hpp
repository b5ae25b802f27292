// SPDX-License-Identifier: BSL-1.0
/// Two adjacent steps of one thread, swapped: Change::after holds the first back until the second
/// is done. An unlock is brought forward instead where the first step cannot wait, as it answers.
#pragma once

#include <byre/error/call_site.hpp>

#include <array>

#include "detector.hpp"
#include "mutation.hpp"
#include "trace.hpp"

namespace byre::verification {

/// What it takes to do a step later.
struct HeldStep {
  void (*take)(const HeldStep&) = nullptr;
  void* object = nullptr;
  std::uint64_t operand = 0;
  sync::Step step{};
  CallSite where{};
};

/// Of one execution. A step that is not followed by the other one is done when it was.
class HeldSteps {
 public:
  /// True iff the step is to be done later.
  bool keep(const HeldStep& step) noexcept {
    if (!is_swapped(*step.step.site) || mine().is_releasing) [[likely]] {
      return false;
    }
    mine().held = step;
    return true;
  }

  /// Around every step, of whatever site.
  void before(const sync::Site& site) {
    if (active_mutation.change == Change::after && &site != active_mutation.next) [[unlikely]] {
      release();
    }
  }
  void after(const sync::Site& site) {
    if (active_mutation.change == Change::after && &site == active_mutation.next) [[unlikely]] {
      release();
    }
  }
  /// At the end of a thread.
  void finish() { release(); }

  /// `unlock` is how the lock that was taken last is let go of.
  void locked(const HeldStep& unlock) noexcept {
    if (active_mutation.change == Change::after) [[unlikely]] {
      mine().unlock = unlock;
    }
  }
  /// Before a load: unlocks, if that is the swap.
  void bring_forward(const sync::Site& load) {
    if (is_swapped(load) && active_mutation.next->operation == sync::Operation::unlock) {
      HeldStep unlock = mine().unlock;
      unlock.step.site = active_mutation.next;
      unlock.take(unlock);
      mine().is_unlocked = true;
    }
  }
  /// True iff this unlock was done before.
  bool is_done(const sync::Site& unlock) noexcept {
    if (active_mutation.next != &unlock || !mine().is_unlocked) [[likely]] {
      return false;
    }
    mine().is_unlocked = false;
    return true;
  }

 private:
  struct Thread {
    HeldStep held;
    HeldStep unlock;
    bool is_releasing = false;
    bool is_unlocked = false;
  };

  static bool is_swapped(const sync::Site& site) noexcept {
    return active_mutation.change == Change::after && active_mutation.site == &site &&
           trace.are_threads_running();
  }

  Thread& mine() noexcept { return threads_[static_cast<std::size_t>(rl::ctx().current_thread())]; }

  void release() {
    if (!trace.are_threads_running() || mine().held.take == nullptr) {
      return;
    }
    const HeldStep step = mine().held;
    mine().held = {};
    mine().is_releasing = true;
    step.take(step);
    mine().is_releasing = false;
  }

  std::array<Thread, 8> threads_{};
};

}  // namespace byre::verification
