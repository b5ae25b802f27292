// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shared_owners.hpp"

namespace byre::stress::races {

/// Half of the owners write. The others clone what they share with them, clone the clones, and write
/// those. The cloners keep their data, so that no writer is ever the last owner: every write copies.
template <class Buffer>
class LazyCloneAgainstMaterialize final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    if (is_writer(thread)) {
      this->write(thread);
      return;
    }
    Fixture& fixture = this->fixture_;
    Buffer clone = fixture.clone(thread, this->owners_[thread]);
    const Buffer clone_of_clone = fixture.clone(thread, clone);
    fixture.expect_content(clone_of_clone, fixture.original(), "a clone of a clone");
    fixture.write(thread, clone, fixture.original());
    this->expect_original(thread, "what was cloned");
  }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_copies(threads);
    this->expect_live_blocks((threads + 1) / 2 + 1, "blocks of the writers, and the original");
    for (unsigned thread = 0; thread < threads; ++thread) {
      if (is_writer(thread)) {
        this->expect_written(thread);
      } else {
        this->expect_original(thread, "what a cloner kept");
      }
    }
    this->fixture_.expect_equal(this->owners_[1].use_count(), threads / 2,
                                "owners of the original");
    this->drop_all();
  }

 private:
  static bool is_writer(unsigned thread) { return thread % 2 == 0; }
};

}  // namespace byre::stress::races
