// SPDX-License-Identifier: BSL-1.0
// Prints the steps of a parking lot and of a table of locks, each with two buckets.
//
// In the lot, a thread parks at an address and is woken, or a thread wakes the threads at an
// address. Other threads act as soon as they get the lock of the bucket. Before the waiter's check
// they can only change the state, since the waiter holds that lock.
//
// In the table, a thread takes the lock of an address, or releases it. A lock to take is free, or
// another thread holds it, works or fails to work, and releases it. A thread that holds another
// address of the bucket may release that address first. Other threads act while the bucket is
// unlocked.
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/basic_parking_lot.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

struct Condition;
bool is_asleep = false;
/// The condition on which the thread sleeps. If it is null, the next notification of any condition
/// wakes the thread.
const Condition* slept_on = nullptr;
/// The steps of other threads, taken while the thread sleeps.
std::function<void()> once_unlocked;

struct Condition {
  void wait(Recorded::SharedMutex&, sync::Step step) const {
    recording.is_locked = false;
    is_asleep = true;
    slept_on = this;
    recording.record_step(*step.site, "1 0");
    recording.silently(once_unlocked);
    recording.note(is_asleep ? "woken spuriously" : "woken");
    is_asleep = false;
    recording.is_locked = true;
  }
  void notify_all(sync::Step step) const {
    const bool wakes = is_asleep && (slept_on == this || slept_on == nullptr);
    recording.record_step(*step.site, wakes ? "1 0" : "0 0");
    is_asleep = is_asleep && !wakes;
  }
};

using Lot = sync::detail::basic_parking_lot<Recorded::SharedMutex, Condition, 1>;

enum class AtLot : unsigned { rest, change, change_before_check, wake_neighbour, wake_elsewhere };

void print_park(AtLot others, bool pending) {
  recording.clear();
  Lot lot;
  const void* const address = address_in<Lot>(0, 0);
  const auto act = [&] {
    if (others == AtLot::change || others == AtLot::change_before_check) {
      pending = false;
      lot.unpark_all(address);
    } else if (others != AtLot::rest) {
      lot.unpark_all(others == AtLot::wake_neighbour ? address_in<Lot>(0, 1)
                                                     : address_in<Lot>(1, 0));
    }
  };
  once_unlocked = act;
  recording.begin(words("parking_lot park", static_cast<unsigned>(others), unsigned{pending}));
  const auto keep_waiting = [&] {
    pending = pending && others != AtLot::change_before_check;
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
    recording.end(words(unsigned{is_asleep}));
  };
  if (sleeps) {
    recording.is_silent = true;
    once_unlocked = wake;
    lot.park(elsewhere ? address_in<Lot>(1, 0) : address_in<Lot>(0, 0), [] { return true; });
  } else {
    wake();
  }
}

using Table = sync::detail::basic_lock_table<Recorded, Recorded::SharedMutex, Condition, 1>;

enum class AtTable : unsigned { work, fail, neighbour };

void print_lock(AtTable others, bool held, bool work) {
  recording.clear();
  Table table;
  Table::Holder mine(address_in<Table>(0, 0));
  Table::Holder theirs(address_in<Table>(0, 0));
  Table::Holder neighbour(address_in<Table>(0, 1));
  const auto never_done = [] { return false; };
  bool is_held = held && table.lock_unless(theirs, never_done);
  static_cast<void>(table.lock_unless(neighbour, never_done));
  once_unlocked = [&] {
    if (others == AtTable::neighbour) {
      table.unlock(neighbour);
    } else {
      work = work && others == AtTable::fail;
      table.unlock(theirs);
      is_held = false;
    }
    others = AtTable::work;
  };
  recording.begin(words("lock_table lock_unless", static_cast<unsigned>(others), unsigned{held},
                        unsigned{work}));
  const auto is_done = [&] {
    recording.note("ask", work ? "0" : "1");
    return !work;
  };
  const bool takes = table.lock_unless(mine, is_done);
  recording.end(words(unsigned{takes}, unsigned{takes} + unsigned{is_held}));
}

void print_unlock(bool sleeps) {
  recording.clear();
  is_asleep = sleeps;
  slept_on = nullptr;
  Table table;
  Table::Holder mine(address_in<Table>(0, 0));
  static_cast<void>(table.lock_unless(mine, [] { return false; }));
  recording.begin(words("lock_table unlock", unsigned{sleeps}));
  table.unlock(mine);
  recording.is_silent = true;
  // The holder has left the list, so another thread gets the lock and does not sleep.
  once_unlocked = [] { std::exit(1); };
  Table::Holder next(address_in<Table>(0, 0));
  static_cast<void>(table.lock_unless(next, [] { return false; }));
  recording.end(words(unsigned{is_asleep}, 0U));
}

}  // namespace

unsigned print_bucket_steps() {
  for (const auto others : {AtLot::rest, AtLot::change, AtLot::change_before_check,
                            AtLot::wake_neighbour, AtLot::wake_elsewhere}) {
    for (const bool pending : {false, true}) {
      print_park(others, pending);
    }
  }
  for (const bool sleeps : {false, true}) {
    for (const bool elsewhere : {false, true}) {
      print_unpark(sleeps, elsewhere);
    }
  }
  for (const auto others : {AtTable::work, AtTable::fail, AtTable::neighbour}) {
    print_lock(others, false, false);
    print_lock(others, false, true);
    print_lock(others, true, true);
  }
  print_unlock(false);
  print_unlock(true);
  return recording.report_unreached(sync::detail::parking_lot_sites, {}) +
         recording.report_unreached(sync::detail::lock_table_sites, {});
}

}  // namespace byre::verification
