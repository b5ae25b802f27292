// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shared_owners.hpp"

namespace byre::stress::races {

/// All owners read what they share, and drop it. The last one releases it, once.
template <class Buffer>
class DropsAgainstDrops final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    this->expect_original(thread, "what is dropped");
    this->drop(thread);
  }

  void check() override {
    this->expect_copies(0);
    this->expect_live_blocks(0, "blocks without an owner");
  }
};

}  // namespace byre::stress::races
