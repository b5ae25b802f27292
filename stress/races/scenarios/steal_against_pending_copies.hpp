// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "pending_copies.hpp"

namespace byre::stress::races {

/// The last owner waits for the others' copies, and steals. If they end before it looks, it finds its
/// data unique instead: the outcome is the same but for the count of steals. Every other round it drops
/// its data at once, while those who woke it may still be there.
template <class Buffer>
class StealAgainstPendingCopies : public PendingCopies<Buffer> {
 public:
  using PendingCopies<Buffer>::PendingCopies;

  void act(unsigned thread) override {
    const bool is_thief = thread == this->special_thread();
    if (is_thief) {
      this->await_copiers();
      this->release_copiers();
    }
    this->write(thread);
    if (is_thief && drops()) {
      this->drop(thread);
    }
  }

  void check() override {
    expect_one_steal();
    this->drop_all();
  }

 protected:
  void expect_one_steal() {
    const unsigned threads = this->fixture_.threads;
    this->expect_copies(threads - 1);
    this->fixture_.expect_equal(this->fixture_.counts().kept(), 1,
                                "last owners that kept the original");
    this->expect_live_blocks(threads - (drops() ? 1 : 0), "blocks of the owners");
    for (unsigned thread = 0; thread < threads; ++thread) {
      if (thread != this->special_thread() || !drops()) {
        this->expect_written(thread);
      }
    }
  }
  Buffer take_stolen() { return std::exchange(this->owners_[this->special_thread()], Buffer()); }

  bool drops_what_it_stole_ = true;

 private:
  bool drops() const { return drops_what_it_stole_ && this->fixture_.round % 2 == 1; }
};

}  // namespace byre::stress::races
