// SPDX-License-Identifier: BSL-1.0
// Of a table of two buckets: who wants the lock of an address that is free, or that another holds, who works
// and leaves, or fails and leaves, or whose neighbour leaves first; and who leaves. Others act once the bucket is
// unlocked.
#include <byre/sync/detail/basic_lock_table.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

std::function<void()> once_unlocked;
unsigned sleepers = 0;

struct Condition {
  void wait(Recorded::SharedMutex&, sync::Step step) const {
    recording.is_locked = false;
    ++sleepers;
    recording.saw(*step.site, "1 0");
    recording.silently(once_unlocked);
    recording.note(sleepers == 0 ? "woken" : "left asleep");
    recording.is_locked = true;
  }
  void notify_all(sync::Step step) const {
    recording.saw(*step.site, words(sleepers, 0U));
    sleepers = 0;
  }
};

using Table = sync::detail::basic_lock_table<Recorded, Recorded::SharedMutex, Condition, 1>;

enum class Others : unsigned { work, fail, neighbour };

void print_lock(Others others, bool held, bool work) {
  recording.clear();
  sleepers = 0;
  Table table;
  Table::Holder mine(address_in<Table>(0, 0));
  Table::Holder theirs(address_in<Table>(0, 0));
  Table::Holder neighbour(address_in<Table>(0, 1));
  const auto never_done = [] { return false; };
  bool is_held = held && table.lock_unless(theirs, never_done);
  static_cast<void>(table.lock_unless(neighbour, never_done));
  once_unlocked = [&] {
    if (others == Others::neighbour) {
      table.unlock(neighbour);
    } else {
      work = work && others == Others::fail;
      table.unlock(theirs);
      is_held = false;
    }
    others = Others::work;
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
  sleepers = sleeps ? 1 : 0;
  Table table;
  Table::Holder mine(address_in<Table>(0, 0));
  static_cast<void>(table.lock_unless(mine, [] { return false; }));
  recording.begin(words("lock_table unlock", unsigned{sleeps}));
  table.unlock(mine);
  recording.is_silent = true;
  // Whether it is off the list: another gets it, and does not sleep.
  bool was_held = false;
  once_unlocked = [&] {
    was_held = true;
    std::exit(1);
  };
  Table::Holder next(address_in<Table>(0, 0));
  static_cast<void>(table.lock_unless(next, [] { return false; }));
  recording.end(words(sleepers, unsigned{was_held}));
}

}  // namespace

unsigned print_lock_table_steps() {
  recording.text = nullptr;
  for (const auto others : {Others::work, Others::fail, Others::neighbour}) {
    print_lock(others, false, false);
    print_lock(others, false, true);
    print_lock(others, true, true);
  }
  print_unlock(false);
  print_unlock(true);
  return recording.report_unreached(sync::detail::lock_table_sites, {});
}

}  // namespace byre::verification
