// SPDX-License-Identifier: BSL-1.0
/// A `Sync` (the template parameter that gives core's lock-free code its atomics, locks and waits)
/// for one thread. It records the steps of an operation as text, which is compared with the steps
/// of a model.
#pragma once

#include <byre/sync/sync.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::verification {

/// The text of one run of an operation, and callbacks that act for the other threads.
struct Recording {
  /// A run that takes more steps is reported as endless. Correct runs that may wait take far fewer.
  static constexpr unsigned most_steps_of_a_wait = 60;

  /// Formats the value of an atomic.
  std::string (*text)(const sync::Site&, std::uint64_t) = nullptr;
  std::function<void()> others;  ///< called after one of the steps; its own steps are not recorded
  unsigned others_after = 1;     ///< the number of that step
  /// Called within a park: before its condition is checked, and while the thread sleeps.
  std::function<void()> before_check, asleep;

  std::string line;
  unsigned steps = 0;
  unsigned most_steps = most_steps_of_a_wait;
  bool may_wait = false;  ///< true if the operation may park and pause
  bool is_locked = false;
  std::vector<std::uint64_t*> atomics;  ///< the values of the atomics constructed since clear()
  std::set<std::string_view> reached;   ///< sites reached in all runs

  /// Resets all but `text` and `reached`. Steps are not recorded until the next begin().
  void clear() {
    Recording fresh;
    fresh.text = text;
    fresh.reached = std::move(reached);
    *this = std::move(fresh);
  }
  void begin(std::string first) {
    line = std::move(first);
    steps = 0;
    is_silent = false;
  }
  void end(const std::string& answer) {
    is_silent = true;
    std::cout << line << " = " << answer << '\n';
  }

  void record_step(const sync::Site& site, std::uint64_t before, std::uint64_t after) {
    record_step(site, text(site, before) + ' ' + text(site, after));
  }
  void record_step(const sync::Site& site, std::string_view change = {}) {
    if (is_silent) {
      return;
    }
    reached.insert(site.name);
    note(site.name.substr(site.name.find('.') + 1), change);
    if (++steps > most_steps) {
      fail("takes more than " + std::to_string(most_steps) + " steps, so it may not end");
    }
    if (others && steps == others_after) {
      silently(others);
    }
  }
  /// Runs `act` as another thread: its steps are not recorded.
  template <class Act>
  void silently(const Act& act) {
    is_silent = true;
    act();
    is_silent = false;
  }
  /// Called by park and pause. Fails even while nothing is recorded: an operation that waits during
  /// the set-up would wait in a program, too.
  void require_may_wait() const {
    if (!may_wait) {
      fail("waits, but only a claim may wait");
    }
  }
  [[noreturn]] void fail(const std::string& fault) const {
    std::cerr << line.substr(0, 300) << "\nThis run " << fault << ".\n";
    std::exit(1);
  }
  /// Appends to the line something other than an atomic step.
  void note(std::string_view name, std::string_view change = {}) {
    if (!is_silent) {
      line.append(" | ").append(name).append(change.empty() ? "" : " ").append(change);
    }
  }

  /// Prints each site of the table that no operation reached, except those in `except`. Returns the
  /// number of such sites.
  template <class Table>
  unsigned report_unreached(const Table& table, std::set<std::string_view> except) const {
    unsigned unreached = 0;
    for (const sync::Site& site : table.rows) {
      if (!reached.contains(site.name) && !except.contains(site.name)) {
        std::cerr << "no operation reached " << site.name << '\n';
        ++unreached;
      }
    }
    return unreached;
  }

  bool is_silent = true;
};

inline Recording recording;

struct Recorded {
  template <class Value>
  struct Atomic {
    explicit Atomic(Value initial) : value_(initial) { recording.atomics.push_back(&value_); }
    Value load(sync::Step step) const { return changed(step, value()); }
    void store(Value after, sync::Step step) { changed(step, after); }
    Value exchange(Value after, sync::Step step) { return changed(step, after); }
    Value fetch_add(Value by, sync::Step step) { return changed(step, value() + by); }
    Value fetch_sub(Value by, sync::Step step) { return changed(step, value() - by); }
    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) {
      const bool matches = value() == expected;
      expected = changed(step, matches ? desired : value());
      return matches;
    }

   private:
    Value value() const { return static_cast<Value>(value_); }
    Value changed(sync::Step step, Value after) const {
      const Value before = value();
      value_ = after;
      recording.record_step(*step.site, before, after);
      return before;
    }

    mutable std::uint64_t value_;
  };
  struct SharedMutex {
    void lock(sync::Step step) { set(true, step); }
    void unlock(sync::Step step) { set(false, step); }
    void lock_shared(sync::Step step) { set(true, step); }
    void unlock_shared(sync::Step step) { set(false, step); }

   private:
    static void set(bool locked, sync::Step step) {
      const std::string before = recording.is_locked ? "1 " : "0 ";
      recording.is_locked = locked;
      recording.record_step(*step.site, before + (locked ? '1' : '0'));
    }
  };
  using ProcessMutex = SharedMutex;
  template <class Value>
  struct Plain {
    explicit Plain(Value initial) : value(initial) {}
    Value get() const { return value; }
    void set(Value other) { value = other; }
    Value value;
  };
  template <class KeepWaiting>
  static void park(const void*, KeepWaiting&& keep_waiting, sync::Step step) noexcept {
    recording.require_may_wait();
    recording.record_step(*step.site);
    if (recording.before_check) {
      recording.before_check();
    }
    if (keep_waiting()) {
      recording.asleep();
    }
  }
  static void unpark_all(const void*, sync::Step step) noexcept {
    recording.record_step(*step.site);
  }
  static inline const unsigned spin_limit = 0;
  static void pause() noexcept { recording.require_may_wait(); }
  static consteval std::uint64_t value_of(const sync::Constant& constant) noexcept {
    return constant.value;
  }
  template <class Object>
  static Object& no_destructor() noexcept {
    static Object object;
    return object;
  }
  static std::uint32_t process_number() noexcept { return 0; }
};

}  // namespace byre::verification
