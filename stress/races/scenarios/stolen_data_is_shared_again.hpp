// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "drops_against_copies.hpp"
#include "steal_against_pending_copies.hpp"

namespace byre::stress::races {

/// What a last owner stole, having waited for it or not, is as good as new: in the next round it is
/// cloned, and drops race copies of it.
template <class Buffer>
class StolenDataIsSharedAgain {
 public:
  explicit StolenDataIsSharedAgain(Stage& stage) : stage_(stage), steal_(stage), drops_(stage) {
    steal_.keep_what_is_stolen();
  }

  void prepare() {
    if (is_shared_again()) {
      stage_.fill(stolen_.mutable_data(), stage_.original());
      drops_.share(std::exchange(stolen_, Buffer()));
    } else {
      steal_.prepare();
    }
  }

  void act(unsigned thread) {
    if (is_shared_again()) {
      drops_.act(thread);
    } else {
      steal_.act(thread);
    }
  }

  void check() {
    if (is_shared_again()) {
      drops_.check();
      return;
    }
    steal_.expect_one_steal();
    stolen_ = steal_.take_stolen();
    steal_.drop_all();
    stage_.expect_equal(stage_.memory.blocks_out(), 1, "blocks but for the stolen one");
  }

 private:
  bool is_shared_again() const { return stage_.round % 2 == 1; }

  Stage& stage_;
  StealAgainstPendingCopies<Buffer> steal_;
  DropsAgainstCopies<Buffer> drops_;
  Buffer stolen_;
};

}  // namespace byre::stress::races
