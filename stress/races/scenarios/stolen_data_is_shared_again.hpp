// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "drops_against_copies.hpp"
#include "steal_against_pending_copies.hpp"

namespace byre::stress::races {

/// Stolen data is as good as new, whether its owner waited for it or not. In the next round it is cloned,
/// and drops race copies of it.
template <class Buffer>
class StolenDataIsSharedAgain final : public StealAgainstPendingCopies<Buffer> {
  using Steal = StealAgainstPendingCopies<Buffer>;

 public:
  explicit StolenDataIsSharedAgain(Fixture& fixture) : Steal(fixture), drops_(fixture) {
    this->drops_what_it_stole_ = false;
  }

  void prepare() override {
    if (is_shared_again()) {
      this->fixture_.fill(stolen_.mutable_data(), this->fixture_.original());
      drops_.share(std::exchange(stolen_, Buffer()));
    } else {
      Steal::prepare();
    }
  }

  void act(unsigned thread) override {
    is_shared_again() ? drops_.act(thread) : Steal::act(thread);
  }

  void check() override {
    if (is_shared_again()) {
      drops_.check();
      return;
    }
    this->expect_one_steal();
    stolen_ = this->take_stolen();
    this->share(Buffer());
    this->expect_live_blocks(1, "blocks but for the stolen one");
  }

 private:
  bool is_shared_again() const { return this->fixture_.round % 2 == 1; }

  DropsAgainstCopies<Buffer> drops_;
  Buffer stolen_;
};

}  // namespace byre::stress::races
