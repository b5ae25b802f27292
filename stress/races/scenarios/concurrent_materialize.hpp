// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shared_owners.hpp"

namespace byre::stress::races {

/// All owners of the same data write at once. All but one copy, and one keeps the original.
template <class Buffer>
class ConcurrentMaterialize final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override { this->write(thread); }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_copies(threads - 1);
    this->fixture_.expect_equal(this->fixture_.counts().kept(), 1,
                                "writers that kept the original");
    for (unsigned thread = 0; thread < threads; ++thread) {
      this->expect_written(thread);
    }
    this->expect_live_blocks(threads, "blocks of the writers");
    this->drop_all();
  }
};

}  // namespace byre::stress::races
