// SPDX-License-Identifier: BSL-1.0
// Of a lot of two buckets: who parks at an address, and is woken by whom; and who wakes. Others act as soon as
// they get the lock: before the waiter asks whether it has to wait they only change the state, and then wait
// for the lock themselves.
#include <byre/sync/detail/basic_parking_lot.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

/// The one that the thread in question sleeps on, if it does.
struct Condition;
const Condition* slept_on = nullptr;
std::function<void()> once_unlocked;

struct Condition {
  void wait(Recorded::SharedMutex&, sync::Step step) const {
    recording.is_locked = false;
    slept_on = this;
    recording.saw(*step.site, "1 0");
    recording.silently(once_unlocked);
    recording.note(slept_on == nullptr ? "woken" : "woken for nothing");
    slept_on = nullptr;
    recording.is_locked = true;
  }
  void notify_all(sync::Step step) const {
    const bool wakes = slept_on == this;
    recording.saw(*step.site, wakes ? "1 0" : "0 0");
    slept_on = wakes ? nullptr : slept_on;
  }
};

using Lot = sync::detail::basic_parking_lot<Recorded::SharedMutex, Condition, 1>;

enum class Others : unsigned { rest, change, change_before_check, wake_neighbour, wake_elsewhere };

void print_park(Others others, bool pending) {
  recording.clear();
  Lot lot;
  const void* const address = address_in<Lot>(0, 0);
  const auto act = [&] {
    if (others == Others::change || others == Others::change_before_check) {
      pending = false;
      lot.unpark_all(address);
    } else if (others != Others::rest) {
      lot.unpark_all(others == Others::wake_neighbour ? address_in<Lot>(0, 1) : address_in<Lot>(1, 0));
    }
  };
  once_unlocked = act;
  recording.begin(words("parking_lot park", static_cast<unsigned>(others), unsigned{pending}));
  const auto keep_waiting = [&] {
    pending = pending && others != Others::change_before_check;
    recording.note("check", pending ? "1" : "0");
    return pending;
  };
  lot.park(address, keep_waiting);
  recording.end(words(unsigned{recording.is_locked}));
}

void print_unpark(bool sleeps, bool elsewhere) {
  recording.clear();
  Lot lot;
  recording.begin(words("parking_lot unpark_all", unsigned{sleeps}, unsigned{elsewhere}));
  const auto wake = [&] {
    recording.is_silent = false;
    lot.unpark_all(address_in<Lot>(0, 0));
    recording.end(words(unsigned{slept_on != nullptr}));
  };
  if (sleeps) {
    recording.is_silent = true;
    once_unlocked = wake;
    lot.park(elsewhere ? address_in<Lot>(1, 0) : address_in<Lot>(0, 0), [] { return true; });
  } else {
    wake();
  }
}

}  // namespace

unsigned print_parking_lot_steps() {
  for (const auto others : {Others::rest, Others::change, Others::change_before_check,
                            Others::wake_neighbour, Others::wake_elsewhere}) {
    for (const bool pending : {false, true}) {
      print_park(others, pending);
    }
  }
  for (const bool sleeps : {false, true}) {
    for (const bool elsewhere : {false, true}) {
      print_unpark(sleeps, elsewhere);
    }
  }
  return recording.report_unreached(sync::detail::parking_lot_sites, {});
}

}  // namespace byre::verification
