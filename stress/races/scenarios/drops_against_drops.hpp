// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All owners read what they share, and drop it: it is released once, by whoever was last.
template <class Buffer>
class DropsAgainstDrops {
 public:
  explicit DropsAgainstDrops(Stage& stage) : stage_(stage), owners_(stage.threads) {}

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
  }

  void act(unsigned thread) {
    stage_.expect_content(owners_[thread], stage_.original(), "what is dropped");
    stage_.drop(thread, owners_[thread]);
  }

  void check() {
    stage_.expect_equal(stage_.tally().copied, 0, "copies where nobody writes");
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  Stage& stage_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
