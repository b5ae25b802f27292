// SPDX-License-Identifier: BSL-1.0
/// Two to four owners claim data at once; in some scenarios their copies fail. Exactly one owner
/// steals, the data is freed once, and an owner whose copy failed wakes the waiter. Without the
/// wake of abandon_copy the waiter sleeps forever. If stop_waiting leaves the bit `waiting` set, a
/// later copier does not free the data.
#include "owners.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class ClaimsRaceClaims : public ClaimsStealOnce<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a waiter steals",
      "a steal without a wait",
      "the stealer has dropped when the last copier wakes it",
  };

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      cover("a waiter steals");
      waiter_stole_ = true;
    } else if (site.name == "share_word.drop_alone") {
      waited_and_dropped_ = waiter_stole_;
      cover_if(!waiter_stole_, "a steal without a wait");
    } else if (site.name == "share_word.wake_after_copy" && waited_and_dropped_) {
      cover("the stealer has dropped when the last copier wakes it");
    }
  }

 private:
  bool waiter_stole_ = false;
  bool waited_and_dropped_ = false;
};

/// The third cover point needs more preemptions than this scenario's bounds allow.
using FourClaims =
    WithCoverPoints<ClaimsRaceClaims<4>, "a waiter steals", "a steal without a wait">;

/// Two owners claim. The stealer, whether it waited or not, clones the data, so the data has two
/// owners. One of them copies, and the other drops before the copy ends, so the copier has to free
/// the data; otherwise the checker reports a leak.
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

/// The action of an owner after its copy failed.
enum class AfterFailure : bool { drops, tries_again_without_waiting };
using enum AfterFailure;

/// The first owner writes and may wait. The copies of all other owners fail, and each of these
/// owners undoes its claim by abandon_copy().
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
      expect(data_.read() == 7, "an owner whose copy failed reads constant data");
      if (Then == drops) {
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
               "an undo while a waiter is parked and a copy is pending");
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

using TwoUndos = WithCoverPoints<UndosWakeWaiters<2, drops>, "an undo while a waiter is parked",
                                 "an undo while a waiter is parked and a copy is pending">;

/// One of two owners copies. The other owner drops the data.
class CopiersAreCounted : public TwoThreads {
 public:
  void thread(unsigned index) {
    if (index == 1 || data_.claim() == Claim::steal) {
      data_.drop();
      return;
    }
    expect(!data_.is_unique(), "no owner is unique while a copy is pending");
    data_.finish_copy();
  }

 private:
  BareData<> data_{2, 7};
};

const Scenario* const claims_scenarios[] = {
    scenario<ClaimsRaceClaims<2>>("two_claims_steal_once",
                                  "Two owners claim: exactly one steals, and the thread that wakes "
                                  "it accesses no freed memory: I1, I2, I6."),
    scenario<ClaimsRaceClaims<3>>("three_claims_steal_once",
                                  "Three owners claim: exactly one steals: I6.", 4, 6),
    scenario<FourClaims>("four_claims_steal_once", "Four owners claim: exactly one steals: I6.", 2,
                         3),
    scenario<LaterCopiersFree>("later_copiers_free",
                               "After a steal the word is as if newly created: later owners copy, "
                               "drop and free like the first ones: I3, I7."),
    scenario<UndosWakeWaiters<1, drops>>(
        "undos_wake_waiters",
        "A waiter is woken when a copier fails and becomes an owner again: promise 5, I3.",
        reduced_search),
    scenario<TwoUndos>("two_undos_wake_waiters", "A waiter is woken although two copiers fail.", 3,
                       5),
    scenario<UndosWakeWaiters<1, tries_again_without_waiting>>(
        "undos_try_again",
        "A copier that failed claims again without waiting, while the last owner waits: promise 5, "
        "I3.",
        reduced_search),
    scenario<CopiersAreCounted>("copiers_are_counted",
                                "A copier is counted: no owner is unique while it copies: I5."),
};

}  // namespace
}  // namespace byre::verification
