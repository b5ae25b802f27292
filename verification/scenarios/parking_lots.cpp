// SPDX-License-Identifier: BSL-1.0
#include "parking_lots.hpp"

#include "owners.hpp"

namespace byre::verification {

/// The word, whose last owner waits in the lot.
class WordInLot : public basic_share_word<ParksIn<Lot>> {
 public:
  WordInLot() { ParksIn<Lot>::lot(); }
};

namespace {

/// The promise that the model keeps, kept by the lot.
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

/// Others wake at the sleeper's address before anything has changed, and at another of its bucket.
class LotWakesForNothing : public LotWakesASleeper {
 public:
  static constexpr std::string_view cover_points[] = {"a wait ends before the change"};

  LotWakesForNothing() {
    Execution::current().allow_spurious_returns(0);  // or nobody knows what it woke of
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

/// The third comes while the second is woken, or sleeps beside it, at one address.
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
    scenario<LotWakesASleeper>(
        "lot_wakes_a_sleeper",
        "The lot that ships: a change before a wake is seen by the check, or wakes the sleeper."),
    scenario<SleepersAreWoken<2, ParksIn<Lot>>>(
        "lot_wakes_all", "One wake is for all who sleep in it at the address.", 3, reduced_search),
    scenario<LotWakesForNothing>(
        "lot_wakes_for_nothing",
        "Who is woken in it for nothing, or by another address of the bucket, sleeps again.",
        reduced_search),
    scenario<LotTakesLateSleepers>("lot_takes_late_sleepers",
                                   "Who comes to it while another is woken is woken in turn.", 3,
                                   reduced_search),
    scenario<SleepersWakeSleepers<Lot>>(
        "lot_has_neighbours",
        "Two addresses of one bucket: a wake at one is for who sleeps there, whoever else does.", 3,
        reduced_search),
    scenario<ClaimsStealOnce<2, WordInLot>>(
        "claims_wait_in_lot",
        "Of two claims one steals where the last owner waits in the lot that ships: I2, I3, I6.",
        reduced_search),
    scenario<SleepersAreWoken<1>>("sleepers_are_woken",
                                  "A change before a wake is seen by the check, or wakes the "
                                  "sleeper: what parking promises to I2 and I3."),
    scenario<SleepersAreWoken<2>>("two_sleepers_are_woken",
                                  "One wake is for all who sleep at the address.", reduced_search),
};

}  // namespace
}  // namespace byre::verification
