// SPDX-License-Identifier: BSL-1.0
/// Claims, and owners whose copies fail, of bare data.
#include "owners.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class ClaimsRaceClaims : public ClaimsStealOnce<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a waiter steals",
      "a steal without a wait",
      "the stealer has left when the last copier wakes it",
  };

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      cover("a waiter steals");
      waiter_stole_ = true;
    } else if (site.name == "share_word.drop_alone") {
      waited_and_left_ = waiter_stole_;
      cover_if(!waiter_stole_, "a steal without a wait");
    } else if (site.name == "share_word.wake_after_copy" && waited_and_left_) {
      cover("the stealer has left when the last copier wakes it");
    }
  }

 private:
  bool waiter_stole_ = false;
  bool waited_and_left_ = false;
};

/// The third state takes more preemptions than the bounds of this one.
using FourClaims =
    WithCoverPoints<ClaimsRaceClaims<4>, "a waiter steals", "a steal without a wait">;

/// Two owners claim. Who steals, having waited or not, clones; of the two owners there are then one
/// copies while the other leaves, so that the copier has to free. That it is freed, the checker sees.
class LaterCopiersFree : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"a stealer that had waited clones"};

  void thread(unsigned) {
    if (data_.claim() == Claim::copy) {
      data_.copy();
      return;
    }
    data_.write(8);
    data_.clone();
    expect(data_.claim() == Claim::copy, "a later owner copies");
    expect(!data_.drop(), "data is not freed while it is copied");
    data_.copy(8);
  }

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      waited_ = true;
    } else if (site.name == "share_word.add_owner" && waited_) {
      cover("a stealer that had waited clones");
    }
  }

 private:
  BareData<> data_{2, 7};
  bool waited_ = false;
};

/// What an owner does whose copy failed.
enum class AfterFailure : bool { leaves, tries_again_without_waiting };
using enum AfterFailure;

/// The first owner writes, and may have to wait. The copies of the others fail.
template <unsigned Failing, AfterFailure Then>
class UndosWakeWaiters {
 public:
  static constexpr unsigned threads = Failing + 1;
  static constexpr std::string_view cover_points[] = {
      "an undo while a waiter is parked",
      "a waiter copies after all",
  };

  void thread(unsigned index) {
    if (index == 0) {
      write(Wait::allowed);
    } else if (data_.claim() == Claim::steal) {
      write_in_place();
    } else {
      data_.abandon_copy();
      expect(data_.read() == 7, "who failed owns still, and nobody writes what it reads");
      if (Then == leaves) {
        data_.drop();
      } else {
        write(Wait::never);
      }
    }
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy" && sleeper_.sleeps()) {
      cover("an undo while a waiter is parked");
      woken_by_undo_ = true;
      cover_if(WordState(value).copies != 0,
               "an undo while a waiter is parked and another copies on");
    } else if (site.name == "share_word.claim_copy" && woken_by_undo_) {
      cover("a waiter copies after all");
    }
    sleeper_.on_step(site, value);
  }

 private:
  void write(Wait wait) {
    if (data_.claim(wait) == Claim::steal) {
      write_in_place();
    } else {
      data_.copy();
    }
  }

  void write_in_place() {
    data_.write(8);
    data_.drop();
  }

  BareData<> data_{threads, 7};
  Sleeper sleeper_;
  bool woken_by_undo_ = false;
};

using TwoUndos = WithCoverPoints<UndosWakeWaiters<2, leaves>, "an undo while a waiter is parked",
                                 "an undo while a waiter is parked and another copies on">;

/// One of two owners copies, the other leaves.
class CopiersAreCounted : public TwoThreads {
 public:
  void thread(unsigned index) {
    if (index == 1 || data_.claim() == Claim::steal) {
      data_.drop();
      return;
    }
    expect(!data_.is_unique(), "nobody is alone while somebody copies");
    data_.finish_copy();
  }

 private:
  BareData<> data_{2, 7};
};

const Scenario* const claims_scenarios[] = {
    scenario<ClaimsRaceClaims<2>>(
        "two_claims_steal_once",
        "Of two owners that claim, one steals, and who wakes it touches nothing "
        "that may be gone: I1, I2, I6."),
    scenario<ClaimsRaceClaims<3>>("three_claims_steal_once",
                                  "Of three owners that claim, one steals: I6.", 4, 6),
    scenario<FourClaims>("four_claims_steal_once", "Of four owners that claim, one steals: I6.", 2,
                         3),
    scenario<LaterCopiersFree>("later_copiers_free",
                               "A steal leaves the data as new: later owners copy, drop and free "
                               "as the first did: I3, I7."),
    scenario<UndosWakeWaiters<1, leaves>>("undos_wake_waiters",
                                          "A waiter is woken when a failed copier owns again, and "
                                          "is not left to sleep: promise 5, I3.",
                                          reduced_search),
    scenario<TwoUndos>("two_undos_wake_waiters", "The same of two copiers that both fail.", 3, 5),
    scenario<UndosWakeWaiters<1, tries_again_without_waiting>>(
        "undos_try_again",
        "A failed copier that tries again, and must not wait, passes the waiter by: promise 5, I3.",
        reduced_search),
    scenario<CopiersAreCounted>(
        "copiers_are_counted", "Who copies is counted: no owner finds itself alone meanwhile, I5."),
};

}  // namespace
}  // namespace byre::verification
