// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All owners of the same data write at once: all but one copy, and one keeps the original.
template <class Buffer>
class ConcurrentMaterialize {
 public:
  explicit ConcurrentMaterialize(Stage& stage) : stage_(stage), owners_(stage.threads) {}

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
  }

  void act(unsigned thread) { stage_.write(thread, owners_[thread], stage_.original()); }

  void check() {
    stage_.expect_equal(stage_.tally().copied, stage_.threads - 1, "copies of as many writers");
    stage_.expect_equal(stage_.tally().kept(), 1, "writers that kept the original");
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      stage_.expect_content(owners_[thread], stage_.stamp(thread), "what a writer left");
    }
    stage_.expect_equal(stage_.memory.blocks_out(), stage_.threads, "blocks of as many writers");
    std::fill(owners_.begin(), owners_.end(), Buffer());
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  Stage& stage_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
