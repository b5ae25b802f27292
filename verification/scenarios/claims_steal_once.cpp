// SPDX-License-Identifier: BSL-1.0
#include "claims_steal_once.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class OfOwners : public ClaimsStealOnce<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a waiter steals",
      "a steal without a wait",
      "the stealer has left when the last copier wakes it",
  };

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      cover("a waiter steals");
      waiter_stole_ = true;
    } else if (site.name == "share_word.drop_alone") {
      waited_and_left_ = waiter_stole_;
      if (!waiter_stole_) {
        cover("a steal without a wait");
      }
    } else if (site.name == "share_word.wake_after_copy" && waited_and_left_) {
      cover("the stealer has left when the last copier wakes it");
    }
  }

 private:
  bool waiter_stole_ = false;
  bool waited_and_left_ = false;
};

class OfFour : public OfOwners<4> {
 public:
  // The third takes more preemptions than the bounds of this one.
  static constexpr auto cover_points = std::span(OfOwners<4>::cover_points).first<2>();
};

const Scenario* const claims_steal_once_listed[] = {
    scenario<OfOwners<2>>("two_claims_steal_once",
                          "Of two owners that claim, one steals, and who wakes it touches nothing "
                          "that may be gone: I1, I2, I6."),
    scenario<OfOwners<3>>("three_claims_steal_once", "Of three owners that claim, one steals: I6.",
                          preemptions(4), preemptions(6)),
    scenario<OfFour>("four_claims_steal_once", "Of four owners that claim, one steals: I6.",
                     preemptions(2), preemptions(3)),
};

}  // namespace

}  // namespace byre::verification
