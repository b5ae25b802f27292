// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All threads clone one buffer at once that was never cloned before: to its owner that is reading.
template <class Buffer>
class FirstClonesAtOnce {
 public:
  explicit FirstClonesAtOnce(Stage& stage) : stage_(stage), clones_(stage.threads) {}

  void prepare() { source_ = stage_.filled<Buffer>(stage_.original()); }

  void act(unsigned thread) {
    const Buffer& source = source_;
    clones_[thread] = stage_.clone(thread, source);
    stage_.expect_content(clones_[thread], stage_.original(), "a first clone");
  }

  void check() {
    stage_.expect_equal(source_.use_count(), stage_.threads + 1, "owners after as many clones");
    for (const Buffer& clone : clones_) {
      stage_.expect(clone.shares_data_with(source_), "a first clone shares its data");
    }
    stage_.expect_equal(stage_.memory.blocks_out(), 1, "blocks that all share");
    if (stage_.has_failed()) {
      return;  // with an owner miscounted, to drop them would be to use what is released
    }
    std::fill(clones_.begin(), clones_.end(), Buffer());
    stage_.expect(source_.is_unique(), "the source is alone when its clones are gone");
    source_ = Buffer();
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  Stage& stage_;
  Buffer source_;
  std::vector<Buffer> clones_;
};

}  // namespace byre::stress::races
