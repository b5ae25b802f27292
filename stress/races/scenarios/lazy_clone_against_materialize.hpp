// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// Half of the owners write, the others clone what they share with them, and clone the clones, and
/// write those. As the cloners keep theirs, nobody is ever the last: every write copies.
template <class Buffer>
class LazyCloneAgainstMaterialize {
 public:
  explicit LazyCloneAgainstMaterialize(Stage& stage) : stage_(stage), owners_(stage.threads) {}

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
  }

  void act(unsigned thread) {
    if (thread % 2 == 0) {
      stage_.write(thread, owners_[thread], stage_.original());
      return;
    }
    Buffer clone = stage_.clone(thread, owners_[thread]);
    const Buffer clone_of_clone = stage_.clone(thread, clone);
    stage_.expect_content(clone_of_clone, stage_.original(), "a clone of a clone");
    stage_.write(thread, clone, stage_.original());
    stage_.expect_content(owners_[thread], stage_.original(), "what was cloned");
  }

  void check() {
    const std::uint64_t writers = (stage_.threads + 1) / 2;
    stage_.expect_equal(stage_.tally().copied, stage_.threads, "copies of as many writes");
    stage_.expect_equal(stage_.memory.blocks_out(), writers + 1, "blocks of writers and cloners");
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      stage_.expect_content(owners_[thread],
                            thread % 2 == 0 ? stage_.stamp(thread) : stage_.original(),
                            "what an owner was left with");
    }
    stage_.expect_equal(owners_[1].use_count(), stage_.threads / 2, "owners of the original");
    std::fill(owners_.begin(), owners_.end(), Buffer());
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  Stage& stage_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
