// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "../stage.hpp"

namespace byre::stress::races {

/// All owners but one are in the middle of their copies when the last one is about to write: it waits
/// for them, and steals. If they end before it looks, it finds itself alone instead, which comes to the
/// same but for the count of steals. Every other time it lets go at once, while those who woke it are
/// still there.
template <class Buffer>
class StealAgainstPendingCopies {
 public:
  explicit StealAgainstPendingCopies(Stage& stage) : stage_(stage), owners_(stage.threads) {
    stage.memory.before_copy = [this] { stay_pending(); };
  }

  void prepare() {
    const auto original = stage_.filled<Buffer>(stage_.original());
    std::fill(owners_.begin(), owners_.end(), original);
    pending_.store(0, boost::memory_order_relaxed);
    last_one_writes_.store(false, boost::memory_order_relaxed);
  }

  void act(unsigned thread) {
    if (thread == thief()) {
      await_copiers();
    }
    stage_.write(thread, owners_[thread], stage_.original());
    if (thread == thief() && lets_go()) {
      stage_.drop(thread, owners_[thread]);
    }
  }

  void check() {
    expect_one_steal();
    drop_all();
    stage_.expect_equal(stage_.memory.blocks_out(), 0, "blocks that nobody owns");
  }

  // The parts, for a story that goes on.

  void expect_one_steal() {
    const std::uint64_t dropped = lets_go() ? 1 : 0;
    stage_.expect_equal(stage_.tally().copied, stage_.threads - 1, "copies of as many writers");
    stage_.expect_equal(stage_.tally().kept(), 1, "last owners that kept the original");
    stage_.expect_equal(stage_.memory.blocks_out(), stage_.threads - dropped, "blocks of owners");
    for (unsigned thread = 0; thread < stage_.threads; ++thread) {
      if (thread != thief() || !lets_go()) {
        stage_.expect_content(owners_[thread], stage_.stamp(thread), "what a writer left");
      }
    }
  }

  void keep_what_is_stolen() { keeps_ = true; }
  Buffer take_stolen() { return std::exchange(owners_[thief()], Buffer()); }
  void drop_all() { std::fill(owners_.begin(), owners_.end(), Buffer()); }

 private:
  unsigned thief() const { return static_cast<unsigned>(stage_.round % stage_.threads); }
  bool lets_go() const { return !keeps_ && stage_.round % 2 == 1; }

  // Relaxed, all of them: they bring the threads together and must not order them, which is what
  // the protocol is to do.
  void stay_pending() {
    pending_.fetch_add(1, boost::memory_order_relaxed);
    while (!last_one_writes_.load(boost::memory_order_relaxed)) {
      std::this_thread::yield();
    }
  }
  void await_copiers() {
    while (pending_.load(boost::memory_order_relaxed) < stage_.threads - 1) {
      std::this_thread::yield();
    }
    last_one_writes_.store(true, boost::memory_order_relaxed);
  }

  Stage& stage_;
  std::vector<Buffer> owners_;
  boost::atomic<unsigned> pending_{0};
  boost::atomic<bool> last_one_writes_{false};
  bool keeps_ = false;
};

}  // namespace byre::stress::races
