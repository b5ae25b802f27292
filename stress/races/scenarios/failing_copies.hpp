// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// Owners write, and some of their copies fail. An owner whose copy failed owns what it owned before,
/// whatever the others did meanwhile; so also if the last owner waited for it. Then it tries again, or
/// drops its data, or keeps it.
template <class Buffer>
class FailingCopies final : public Scenario {
 public:
  explicit FailingCopies(Fixture& fixture) : fixture_(fixture), owners_(fixture.threads) {
    fixture.memory.before_copy = [] {
      if (this_copy_fails) {
        throw CopyFailed();
      }
    };
  }

  void prepare() override {
    const auto original = fixture_.filled<Buffer>(fixture_.original());
    std::fill(owners_.begin(), owners_.end(), Owner{original, Left::written});
  }

  void act(unsigned thread) override {
    Owner& owner = owners_[thread];
    const Plan plan = plan_of(thread);
    if (write(thread, plan != Plan::succeeds)) {
      return;
    }
    fixture_.expect_content(owner.buffer, fixture_.original(), "what a failed copy left");
    switch (plan) {
      case Plan::succeeds:
      case Plan::retries:
        write(thread, false);
        return;
      case Plan::drops:
        owner.left = Left::nothing;
        fixture_.drop(thread, owner.buffer);
        return;
      case Plan::keeps:
        owner.left = Left::shared;
        return;
    }
  }

  void check() override {
    const auto count = [&](Left left) {
      return static_cast<std::uint64_t>(std::count_if(
          owners_.begin(), owners_.end(), [&](const Owner& owner) { return owner.left == left; }));
    };
    const RaceCounts did = fixture_.counts();
    const std::uint64_t sharing = count(Left::shared);
    fixture_.expect_equal(did.copied + did.kept(), count(Left::written), "writes that succeeded");
    fixture_.expect(did.kept() <= (sharing == 0 ? 1U : 0U), "no writer keeps what others own");
    if (sharing == 0 && count(Left::nothing) == 0) {
      fixture_.expect_equal(did.kept(), 1, "writers that kept the original");
    }
    const std::uint64_t originals = sharing != 0 || did.kept() != 0 ? 1 : 0;
    fixture_.expect_equal(fixture_.memory.live_blocks(), did.copied + originals,
                          "blocks of owners");
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      expect_what_was_left(thread);
    }
    std::fill(owners_.begin(), owners_.end(), Owner{});
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  struct CopyFailed : std::runtime_error {
    CopyFailed() : runtime_error("a copy that was to fail") {}
  };

  /// What a thread does in a round, if it has to copy: its copy succeeds, or fails and it goes on so.
  enum class Plan : std::uint8_t { succeeds, retries, drops, keeps };
  enum class Left : std::uint8_t { written, shared, nothing };

  struct alignas(64) Owner {
    Buffer buffer;
    Left left = Left::written;
  };

  /// Depends on the seed alone.
  Plan plan_of(unsigned thread) const {
    const std::uint64_t mixed = seed_of_thread(fixture_.seed, fixture_.stamp(thread)) >> 40;
    return static_cast<Plan>(mixed % 4);
  }

  /// False if it failed.
  bool write(unsigned thread, bool is_to_fail) {
    this_copy_fails = is_to_fail;
    try {
      fixture_.write(thread, owners_[thread].buffer, fixture_.original());
    } catch (const CopyFailed&) {
      return false;
    }
    return true;
  }

  void expect_what_was_left(unsigned thread) {
    const Owner& owner = owners_[thread];
    if (owner.left == Left::written) {
      fixture_.expect_content(owner.buffer, fixture_.stamp(thread), "what a writer left");
    } else if (owner.left == Left::shared) {
      fixture_.expect_content(owner.buffer, fixture_.original(), "what is still shared");
    }
  }

  static inline thread_local bool this_copy_fails = false;

  Fixture& fixture_;
  std::vector<Owner> owners_;
};

}  // namespace byre::stress::races
