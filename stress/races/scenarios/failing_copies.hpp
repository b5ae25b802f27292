// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "owners.hpp"

namespace byre::stress::races {

/// Owners write, and some of their copies fail. An owner whose copy failed owns the data that it
/// owned before, no matter what the other owners did during the copy, even if the last owner waited
/// for this copy. Then the owner tries again, drops its data, or stays a shared owner.
template <class Buffer>
class FailingCopies final : public SharedOwners<Buffer> {
 public:
  explicit FailingCopies(Fixture& fixture)
      : SharedOwners<Buffer>(fixture), states_(fixture.threads) {}

  void prepare() override {
    SharedOwners<Buffer>::prepare();
    std::fill(states_.begin(), states_.end(), OfThread{FinalState::written});
  }

  void act(unsigned thread) override {
    const Plan plan = plan_of(thread);
    if (this->fixture_.try_write(thread, this->owners_[thread], this->fixture_.original(),
                                 plan != Plan::succeeds)) {
      return;
    }
    this->expect_original(thread, "the data after a failed copy");
    switch (plan) {
      case Plan::succeeds:
      case Plan::retries:
        this->write(thread);
        return;
      case Plan::drops:
        states_[thread].state = FinalState::dropped;
        this->drop(thread);
        return;
      case Plan::keeps:
        states_[thread].state = FinalState::shared;
        return;
    }
  }

  void check() override {
    Fixture& fixture = this->fixture_;
    const auto count = [&](FinalState state) {
      return static_cast<std::uint64_t>(std::ranges::count(states_, state, &OfThread::state));
    };
    const std::uint64_t kept = fixture.counts().kept();
    const std::uint64_t sharing = count(FinalState::shared);
    fixture.expect(kept <= (sharing == 0 ? 1U : 0U), "no writer keeps data that others own");
    if (sharing == 0 && count(FinalState::dropped) == 0) {
      fixture.expect_equal(kept, 1, "writers that kept the original");
    }
    const std::uint64_t copies = count(FinalState::written) - kept;
    const std::uint64_t originals = sharing != 0 || kept != 0 ? 1 : 0;
    this->expect_final_states({copies, kept, copies + originals},
                              [this](unsigned thread) { return states_[thread].state; });
    this->drop_all();
  }

 private:
  /// The plan of a thread for a round, if it has to copy: the copy succeeds; or it fails, and the
  /// thread retries, drops its data, or remains a shared owner.
  enum class Plan : std::uint8_t { succeeds, retries, drops, keeps };

  struct alignas(64) OfThread {
    FinalState state;
  };

  Plan plan_of(unsigned thread) const {
    return static_cast<Plan>(this->fixture_.number_of(thread) % 4);
  }

  std::vector<OfThread> states_;
};

}  // namespace byre::stress::races
