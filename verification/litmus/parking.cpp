// SPDX-License-Identifier: BSL-1.0
/// Litmus tests of parking: which wakes may be lost, and which must not be lost.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// One thread waits for a number that the other sets.
struct Waiting {
  void set(std::memory_order order = relaxed) {
    number.store(1, at(order));
    wake();
  }
  void wake() { Checked::unpark_all(&number, at()); }
  bool is_unset(std::memory_order order = relaxed) const { return number.load(at(order)) == 0; }
  void wait(std::memory_order order = relaxed) {
    Checked::park(
        &number, [=, this] { return is_unset(order); }, at());
  }
  void wait_unconditionally() {
    Checked::park(
        &number, [] { return true; }, at());
  }

  Number number{0};
  Number another{0};
};

constexpr auto set = [](Waiting& waiting) { waiting.set(); };
constexpr auto wake = [](Waiting& waiting) { waiting.wake(); };
constexpr auto wake_elsewhere = [](Waiting& waiting) {
  Checked::unpark_all(&waiting.another, at());
};
constexpr auto set_alone = [](Waiting& waiting) { waiting.number.store(1, at(seq_cst)); };
constexpr auto wait = [](Waiting& waiting) { waiting.wait(); };
constexpr auto wait_for_the_newest = [](Waiting& waiting) { waiting.wait(seq_cst); };
constexpr auto wait_unconditionally = [](Waiting& waiting) { waiting.wait_unconditionally(); };
constexpr auto load_and_wait = [](Waiting& waiting) {
  if (waiting.is_unset()) {
    waiting.wait_unconditionally();
  }
};
constexpr auto spin = [](Waiting& waiting) {
  while (waiting.is_unset()) {
    Checked::pause();
  }
};

struct AllAreWoken : Waiting {
  static constexpr unsigned threads = 3;
  void thread(unsigned index) { index == 0 ? set() : wait(); }
};

/// Whether a wait may end before the number is set.
template <unsigned SpuriousReturns, Fate TooEarly>
struct WokenSpuriously : TwoThreads, Waiting {
  static constexpr Outcome outcomes[] = {{"the number is set", Fate::seen},
                                         {"the number is not set", TooEarly}};

  WokenSpuriously() { Execution::current().allow_spurious_returns(SpuriousReturns); }
  void thread(unsigned index) {
    if (index == 0) {
      set();
    } else {
      wait();
      too_early = is_unset();
    }
  }
  std::size_t outcome() const { return too_early ? 1 : 0; }

  bool too_early = false;
};

/// A park that does not sleep synchronizes with no other thread, so only the orders of the store
/// and of the load order the data.
template <std::memory_order Store, std::memory_order Load>
struct DataBehindAWait : TwoThreads, Waiting {
  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      set(Store);
    } else {
      while (is_unset(Load)) {
        wait();
      }
      data.get();
    }
  }
  Cell data{0};
};

/// Two threads access the number `place` and then increment the number `another`. In the derived
/// classes, one thread or both access `place` within the condition of a wait at a third address.
struct MeetInACondition : TwoThreads {
  static constexpr Outcome outcomes[] = {
      {"thread 0 is the first at both numbers", Fate::seen},
      {"thread 0 is the first at the condition's number only", Fate::seen},
      {"thread 0 is the first at the other number only", Fate::seen},
      {"thread 0 is the first at neither", Fate::seen}};

  std::size_t outcome() const { return (is_first ? 0U : 2U) + (is_first_again ? 0U : 1U); }

 protected:
  void meet() { note(is_first, place); }
  void meet_again() { note(is_first_again, another); }

  Number place{0};
  Number another{0};
  bool is_first = false;
  bool is_first_again = false;

 private:
  static void note(bool& is_first, Number& number) {
    const bool is_first_here = number.fetch_add(1, at(relaxed)) == 0;
    is_first = current_thread() == 0 ? is_first_here : is_first;
  }
};

template <unsigned ThreadsWithConditions>
struct HaveConditions : MeetInACondition {
  void thread(unsigned index) {
    const auto condition = [this] { return meet(), false; };
    index < ThreadsWithConditions ? Checked::park(&addresses[index], condition, at()) : meet();
    meet_again();
  }
  char addresses[2] = {};
};

/// Thread 0 sleeps until it is woken or wakes up spuriously, or does not sleep at all.
struct SleepsOnACondition : MeetInACondition {
  void thread(unsigned index) {
    if (index == 0) {
      Checked::park(
          &address, [this] { return is_first = place.load(at(relaxed)) == 0; }, at());
      meet_again();
    } else {
      place.store(1, at(relaxed));
      meet_again();
      Checked::unpark_all(&address, at());
    }
  }
  char address = 0;
};

const Scenario* const parking_tests[] = {
    litmus_test<Two<Waiting, wake, wait_unconditionally>>(
        "litmus.wake_before_wait", "A wake has no effect on a later wait.", Verdict::deadlock),
    litmus_test<Two<Waiting, set, load_and_wait>>("litmus.loads_before_parking",
                                                  "A wake between a load and the sleep is lost.",
                                                  Verdict::deadlock),
    litmus_test<Two<Waiting, set, wait>>("litmus.loads_while_parking",
                                         "No wake is lost if the load is part of parking."),
    litmus_test<Two<Waiting, wake_elsewhere, wait>>(
        "litmus.woken_elsewhere", "A wake at another address does not end a wait.",
        Verdict::deadlock),
    litmus_test<Two<Waiting, set_alone, wait_for_the_newest>>(
        "litmus.change_without_wake", "A change without a wake wakes no thread.",
        Verdict::deadlock),
    litmus_test<AllAreWoken>("litmus.all_are_woken", "A wake ends all waits at its address."),
    litmus_test<WokenSpuriously<0, Fate::forbidden>>(
        "litmus.waits_to_the_end",
        "A wait lasts until the wake if the scenario forbids spurious wakes."),
    litmus_test<WokenSpuriously<1, Fate::seen>>(
        "litmus.woken_spuriously", "A wait may end spuriously if the scenario allows it."),
    litmus_test<DataBehindAWait<relaxed, relaxed>>(
        "litmus.wait_relaxed",
        "Parking alone does not order data: a thread that does not sleep has synchronized with no "
        "other thread.",
        Verdict::data_race),
    litmus_test<DataBehindAWait<release, acquire>>(
        "litmus.wait_acq_rel", "Release and acquire around parking order data."),
    litmus_test<HaveConditions<1>>(
        "litmus.condition_of_one",
        "The condition of one wait may read objects at other addresses."),
    litmus_test<HaveConditions<2>>("litmus.conditions_of_two",
                                   "The conditions of waits at two addresses may read one object."),
    litmus_test<SleepsOnACondition>(
        "litmus.condition_of_a_sleeper",
        "The condition of a sleeping thread may read objects at other addresses."),
    litmus_test<Two<Waiting, nothing, spin>>(
        "litmus.spins_forever", "A loop that does not end is a livelock.", Verdict::livelock),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
