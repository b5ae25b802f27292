// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All owners but one read and drop; that one asks until it is alone, and then changes size and
/// content in place, which has to happen after all that the others read.
template <class Buffer>
class ReadsAgainstWritesInPlace {
 public:
  explicit ReadsAgainstWritesInPlace(Stage& stage) : stage_(stage), owners_(stage.threads) {}

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
  }

  void act(unsigned thread) {
    Buffer& owner = owners_[thread];
    if (thread != writer()) {
      stage_.expect_equal(owner.nbytes(), stage_.nbytes, "bytes a reader sees");
      stage_.expect_content(owner, stage_.original(), "what a reader sees");
      stage_.drop(thread, owner);
      return;
    }
    while (!owner.is_unique()) {
      std::this_thread::yield();
    }
    owner.resize(0);
    owner.resize(stage_.nbytes);
    stage_.write(thread, owner, stage_.original());
  }

  void check() {
    stage_.expect_equal(stage_.tally().unique, 1, "writes in place by who is alone");
    stage_.expect_equal(stage_.memory.blocks_out(), 1, "blocks of the one writer");
    stage_.expect_content(owners_[writer()], stage_.stamp(writer()), "what the writer left");
    owners_[writer()] = Buffer();
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  unsigned writer() const { return static_cast<unsigned>(stage_.round % stage_.threads); }

  Stage& stage_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
