// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// Owners write, and some of their copies fail: who failed owns what it owned before, whatever the
/// others did meanwhile, a last owner that waited for it included. It tries again, or lets go, or
/// leaves it at that.
template <class Buffer>
class FailingCopies {
 public:
  explicit FailingCopies(Stage& stage) : stage_(stage), owners_(stage.threads) {
    stage.memory.before_copy = [] {
      if (this_copy_fails) {
        throw CopyFailed();
      }
    };
  }

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), Owner{original, Left::wrote});
  }

  void act(unsigned thread) {
    Owner& owner = owners_[thread];
    const Course course = course_of(thread);
    if (write(thread, course != Course::succeeds)) {
      return;
    }
    stage_.expect_content(owner.buffer, stage_.original(), "what a copy failed to copy");
    switch (course) {
      case Course::succeeds:
      case Course::tries_again:
        write(thread, false);
        return;
      case Course::lets_go:
        owner.left = Left::nothing;
        stage_.drop(thread, owner.buffer);
        return;
      case Course::stays:
        owner.left = Left::shared;
        return;
    }
  }

  void check() {
    const auto count = [&](Left left) {
      return static_cast<std::uint64_t>(std::count_if(
          owners_.begin(), owners_.end(), [&](const Owner& owner) { return owner.left == left; }));
    };
    const Deeds did = stage_.tally();
    const std::uint64_t sharing = count(Left::shared);
    stage_.expect_equal(did.copied + did.kept(), count(Left::wrote), "writes that succeeded");
    stage_.expect(did.kept() <= (sharing == 0 ? 1U : 0U), "nobody keeps what others own");
    if (sharing == 0 && count(Left::nothing) == 0) {
      stage_.expect_equal(did.kept(), 1, "writers that kept the original");
    }
    const std::uint64_t originals = sharing != 0 || did.kept() != 0 ? 1 : 0;
    stage_.expect_equal(stage_.memory.blocks_out(), did.copied + originals, "blocks of owners");
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      expect_what_was_left(thread);
    }
    std::fill(owners_.begin(), owners_.end(), Owner{});
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  struct CopyFailed : std::runtime_error {
    CopyFailed() : runtime_error("a copy that was to fail") {}
  };

  /// What a thread does in a round whose copy, if it makes one, fails; or does not.
  enum class Course : std::uint8_t { succeeds, tries_again, lets_go, stays };
  enum class Left : std::uint8_t { wrote, shared, nothing };

  struct alignas(64) Owner {
    Buffer buffer;
    Left left = Left::wrote;
  };

  /// By the seed alone.
  Course course_of(unsigned thread) const {
    const std::uint64_t mixed = seed_of_thread(stage_.seed, stage_.stamp(thread)) >> 40;
    return static_cast<Course>(mixed % 4);
  }

  /// False if it failed.
  bool write(unsigned thread, bool is_to_fail) {
    this_copy_fails = is_to_fail;
    try {
      stage_.write(thread, owners_[thread].buffer, stage_.original());
    } catch (const CopyFailed&) {
      return false;
    }
    return true;
  }

  void expect_what_was_left(unsigned thread) {
    const Owner& owner = owners_[thread];
    if (owner.left == Left::wrote) {
      stage_.expect_content(owner.buffer, stage_.stamp(thread), "what a writer left");
    } else if (owner.left == Left::shared) {
      stage_.expect_content(owner.buffer, stage_.original(), "what is still shared");
    }
  }

  static inline thread_local bool this_copy_fails = false;

  Stage& stage_;
  std::vector<Owner> owners_;
};

}  // namespace byre::stress::races
