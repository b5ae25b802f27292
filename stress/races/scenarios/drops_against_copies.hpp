// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shared_owners.hpp"

namespace byre::stress::races {

/// Some owners drop what the others write. No drop spoils a copy, and at most one writer keeps the
/// original. If no writer keeps it, the last owner releases it, once.
template <class Buffer>
class DropsAgainstCopies final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;
  using SharedOwners<Buffer>::share;

  void act(unsigned thread) override {
    if (drops(thread)) {
      this->expect_original(thread, "what is dropped");
      this->drop(thread);
    } else {
      this->write(thread);
    }
  }

  void check() override {
    std::uint64_t writers = 0;
    for (unsigned thread = 0; thread < this->fixture_.threads; ++thread) {
      if (!drops(thread)) {
        ++writers;
        this->expect_written(thread);
      }
    }
    const RaceCounts did = this->fixture_.counts();
    this->fixture_.expect_equal(did.copied + did.kept(), writers, "writes");
    this->fixture_.expect(did.kept() <= 1, "at most one writer keeps the original");
    this->expect_live_blocks(writers, "blocks of the writers");
    this->drop_all();
  }

 private:
  /// Half of the threads, by turns; at least one drops, and one writes.
  bool drops(unsigned thread) const { return (thread + this->fixture_.round) % 2 == 0; }
};

}  // namespace byre::stress::races
