// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// Some owners drop what the others write. Nobody's copy is spoiled, at most one writer keeps the
/// original, and if none does it is released once, by whoever was last.
template <class Buffer>
class DropsAgainstCopies {
 public:
  explicit DropsAgainstCopies(Stage& stage) : stage_(stage), owners_(stage.threads) {}

  void prepare() { share(stage_.filled<Buffer>(stage_.original())); }

  void share(Buffer original) { std::fill(owners_.begin(), owners_.end(), original); }

  void act(unsigned thread) {
    if (drops(thread)) {
      stage_.expect_content(owners_[thread], stage_.original(), "what is dropped");
      stage_.drop(thread, owners_[thread]);
    } else {
      stage_.write(thread, owners_[thread], stage_.original());
    }
  }

  void check() {
    std::uint64_t writers = 0;
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      if (!drops(thread)) {
        ++writers;
        stage_.expect_content(owners_[thread], stage_.stamp(thread), "what a writer left");
      }
    }
    const Deeds did = stage_.tally();
    stage_.expect_equal(did.copied + did.kept(), writers, "writes of as many writers");
    stage_.expect(did.kept() <= 1, "at most one writer keeps the original");
    stage_.expect_equal(stage_.memory.blocks_out(), writers, "blocks of as many writers");
    std::fill(owners_.begin(), owners_.end(), Buffer());
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  /// Half of them, each thread in turn; a writer and who drops at least.
  bool drops(unsigned thread) const { return (thread + stage_.round) % 2 == 0; }

  Stage& stage_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
