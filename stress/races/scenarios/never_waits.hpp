// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All owners but one are in the middle of their copies, and stay there until the last one has written:
/// which must not wait, or nobody got any further, and so copies too. The last copier releases the
/// original.
template <class Buffer>
class NeverWaits {
 public:
  explicit NeverWaits(Stage& stage) : stage_(stage), owners_(stage.threads) {
    stage.memory.before_copy = [this] { stay_pending(); };
  }

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
    pending_.store(0, boost::memory_order_relaxed);
    last_one_wrote_.store(false, boost::memory_order_relaxed);
  }

  void act(unsigned thread) {
    if (thread != hasty()) {
      stage_.write(thread, owners_[thread], stage_.original());
      return;
    }
    while (pending_.load(boost::memory_order_relaxed) < stage_.threads - 1) {
      std::this_thread::yield();
    }
    stage_.write(thread, owners_[thread], stage_.original(), Wait::never);
    last_one_wrote_.store(true, boost::memory_order_relaxed);
  }

  void check() {
    stage_.expect_equal(stage_.tally().copied, stage_.threads, "copies of as many writers");
    stage_.expect_equal(stage_.memory.blocks_out(), stage_.threads, "blocks of as many writers");
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      stage_.expect_content(owners_[thread], stage_.stamp(thread), "what a writer left");
    }
    std::fill(owners_.begin(), owners_.end(), Buffer());
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

 private:
  unsigned hasty() const { return static_cast<unsigned>(stage_.round % stage_.threads); }

  // Relaxed, all of them: they bring the threads together and must not order them.
  void stay_pending() {
    const bool is_hasty = pending_.fetch_add(1, boost::memory_order_relaxed) == stage_.threads - 1;
    while (!is_hasty && !last_one_wrote_.load(boost::memory_order_relaxed)) {
      std::this_thread::yield();
    }
  }

  Stage& stage_;
  std::vector<Buffer> owners_;
  boost::atomic<unsigned> pending_{0};
  boost::atomic<bool> last_one_wrote_{false};
};

}  // namespace byre::stress::races
