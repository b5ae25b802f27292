// SPDX-License-Identifier: BSL-1.0
#include "bare_data.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

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
  void write(Wait wait) {
    if (data_.claim(wait) == Claim::steal) {
      write_in_place();
    } else {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
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

class OfTwo : public UndosWakeWaiters<2, leaves> {
 public:
  static constexpr std::string_view cover_points[] = {
      "an undo while a waiter is parked",
      "an undo while a waiter is parked and another copies on",
  };
};

const Scenario* const undos_wake_waiters_listed[] = {
    scenario<UndosWakeWaiters<1, leaves>>("undos_wake_waiters",
                                          "A waiter is woken when a failed copier owns again, and "
                                          "is not left to sleep: promise 5, I3.",
                                          reduced_search),
    scenario<OfTwo>("two_undos_wake_waiters", "The same of two copiers that both fail.",
                    preemptions(3), preemptions(5)),
    scenario<UndosWakeWaiters<1, tries_again_without_waiting>>(
        "undos_try_again",
        "A failed copier that tries again, and must not wait, passes the waiter by: promise 5, I3.",
        reduced_search),
};

}  // namespace

}  // namespace byre::verification
