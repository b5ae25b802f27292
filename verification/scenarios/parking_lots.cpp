// SPDX-License-Identifier: BSL-1.0
/// Two or three threads sleep in the shipped parking lot and wake each other, at one address, at
/// two addresses of one bucket, or in claims of a share word. A thread has to wake if the state
/// that it waits for has changed. If a wake does not pass through the lock of the bucket, the wake
/// may come between the check and the sleep, and the sleeper is never woken.
#include "parking_lots.hpp"

#include "owners.hpp"

namespace byre::verification {

/// A share word whose last owner waits in the parking lot.
class WordInLot : public basic_share_word<ParksIn<Lot>> {
 public:
  WordInLot() { ParksIn<Lot>::lot(); }
};

namespace {

/// One sleeper and one waker in the shipped parking lot.
class LotWakesASleeper : public SleepersAreWoken<1, ParksIn<Lot>> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a thread sleeps before the change",
      "the change comes before the sleep",
      "the change comes between the check and the sleep",
      "a wait ends before the change",
  };

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "sleeper.change") {
      is_changed_ = true;
    } else if (site.name == "parking_lot.sleep" && is_changed_) {
      cover("the change comes between the check and the sleep");
    } else if (site.name == "parking_lot.unlock_parked" && is_asleep_ && !is_changed_) {
      cover("a wait ends before the change");
    }
    is_asleep_ = is_asleep_ || site.name == "parking_lot.sleep";
  }

 private:
  bool is_changed_ = false;
  bool is_asleep_ = false;
};

/// Before the change, wakes come at the sleeper's address and at another address of its bucket.
class LotWakesForNothing : public LotWakesASleeper {
 public:
  static constexpr std::string_view cover_points[] = {"a wait ends before the change"};

  LotWakesForNothing() {
    Execution::current().allow_spurious_returns(0);  // else the cause of a wake would be unknown
  }

  void thread(unsigned index) {
    if (index == 0) {
      for (const void* at : {event_.address, address_in<Lot>(Lot::bucket_of(event_.address))}) {
        ParksIn<Lot>::unpark_all(at, step_of<"sleeper.unpark">());
      }
    }
    SleepersAreWoken::thread(index);
  }
};

/// Two threads use one address: the third thread parks while the second is woken, or both sleep.
class LotTakesLateSleepers : public SleepersWakeSleepers<Lot, true> {
 public:
  static constexpr std::string_view cover_points[] = {"a thread parks while another is woken"};

  void on_step(const sync::Site& site, std::uint64_t) {
    if (current_thread() == 0) {
      is_waking_ =
          site.name == "parking_lot.lock_to_wake" || site.name == "parking_lot.unlock_to_wake";
    } else if (current_thread() == 1) {
      is_asleep_ = site.name == "parking_lot.sleep";
    } else if (site.name == "parking_lot.sleep" && is_waking_ && is_asleep_) {
      cover("a thread parks while another is woken");
    }
  }

 private:
  bool is_waking_ = false;
  bool is_asleep_ = false;
};

const Scenario* const parking_lots_scenarios[] = {
    scenario<LotWakesASleeper>("lot_wakes_a_sleeper",
                               "In the shipped parking lot the check finds a change before a wake, "
                               "or the wake ends the sleep."),
    scenario<SleepersAreWoken<2, ParksIn<Lot>>>(
        "lot_wakes_all", "One wake in the parking lot ends all sleeps at its address.", 3,
        reduced_search),
    scenario<LotWakesForNothing>("lot_wakes_for_nothing",
                                 "A thread that is woken spuriously, or by a wake at another "
                                 "address of its bucket, sleeps again.",
                                 reduced_search),
    scenario<LotTakesLateSleepers>("lot_takes_late_sleepers",
                                   "A thread that parks while another is woken is woken later.", 3,
                                   reduced_search),
    scenario<SleepersWakeSleepers<Lot>>(
        "lot_has_neighbours",
        "A wake at one of two addresses of a bucket wakes the thread that sleeps there.", 3,
        reduced_search),
    scenario<ClaimsStealOnce<2, WordInLot>>("claims_wait_in_lot",
                                            "Exactly one of two claims steals if the last owner "
                                            "waits in the shipped parking lot: I2, I3, I6.",
                                            reduced_search),
    scenario<SleepersAreWoken<1>>("sleepers_are_woken",
                                  "The check finds a change before a wake, or the wake ends the "
                                  "sleep: the promise of parking that I2 and I3 rely on."),
    scenario<SleepersAreWoken<2>>("two_sleepers_are_woken",
                                  "One wake ends all sleeps at its address.", reduced_search),
};

}  // namespace
}  // namespace byre::verification
