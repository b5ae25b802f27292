// SPDX-License-Identifier: BSL-1.0
#include "undos_wake_waiters.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

using enum AfterFailure;

template <unsigned Failing, AfterFailure Then>
class UndosWakeWaitersOfWord : public UndosWakeWaiters<basic_share_word, Failing, Then> {
 public:
  static constexpr std::string_view cover_points[] = {
      "an undo while a waiter is parked",
      "a waiter copies after all",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy" && sleeper_.sleeps()) {
      cover("an undo while a waiter is parked");
      woken_by_undo_ = true;
      if (WordState(value).copies != 0) {
        cover("an undo while a waiter is parked and another copies on");
      }
    } else if (site.name == "share_word.claim_copy" && woken_by_undo_) {
      cover("a waiter copies after all");
    }
    sleeper_.saw(site, value);
  }

 private:
  Sleeper sleeper_;
  bool woken_by_undo_ = false;
};

class OfTwo : public UndosWakeWaitersOfWord<2, leaves> {
 public:
  static constexpr std::string_view cover_points[] = {
      "an undo while a waiter is parked",
      "an undo while a waiter is parked and another copies on",
  };
};

}  // namespace

const Scenario undos_wake_waiters = scenario<UndosWakeWaitersOfWord<1, leaves>>({
    .name = "undos_wake_waiters",
    .shows = "A waiter is woken when a failed copier owns again, and is not left to sleep: promise "
             "5, I3.",
});

const Scenario two_undos_wake_waiters = scenario<OfTwo>({
    .name = "two_undos_wake_waiters",
    .shows = "The same of two copiers that both fail.",
    .quick = preemptions(3),
    .deep = preemptions(5),
});

const Scenario undos_try_again = scenario<UndosWakeWaitersOfWord<1, tries_again_without_waiting>>({
    .name = "undos_try_again",
    .shows =
        "A failed copier that tries again, and must not wait, passes the waiter by: promise 5, "
        "I3.",
});

const Scenario locked_undos_wake_waiters = scenario<UndosWakeWaiters<basic_share_lock, 1, leaves>>({
    .name = "locked_undos_wake_waiters",
    .shows = "The same of the textbook form.",
});

const Scenario locked_two_undos_wake_waiters =
    scenario<UndosWakeWaiters<basic_share_lock, 2, leaves>>({
        .name = "locked_two_undos_wake_waiters",
        .shows = "The same of two copiers that both fail.",
        .quick = preemptions(2),
        .deep = preemptions(4),
    });

const Scenario locked_undos_try_again =
    scenario<UndosWakeWaiters<basic_share_lock, 1, tries_again_without_waiting>>({
        .name = "locked_undos_try_again",
        .shows = "The same of the textbook form.",
        .quick = preemptions(6),
    });

}  // namespace byre::verification
