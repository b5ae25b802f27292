// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shared_owners.hpp"

namespace byre::stress::races {

/// All threads clone one buffer at once that was never cloned before. To its owner a clone is a read.
template <class Buffer>
class FirstClonesAtOnce final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void prepare() override {
    source_ = this->fixture_.template filled<Buffer>(this->fixture_.original());
  }

  void act(unsigned thread) override {
    const Buffer& source = source_;
    this->owners_[thread] = this->fixture_.clone(thread, source);
    this->expect_original(thread, "a first clone");
  }

  void check() override {
    Fixture& fixture = this->fixture_;
    fixture.expect_equal(source_.use_count(), fixture.threads + 1, "owners");
    for (const Buffer& clone : this->owners_) {
      fixture.expect(clone.shares_data_with(source_), "a first clone shares its data");
    }
    this->expect_live_blocks(1, "blocks that all share");
    if (fixture.has_failed()) {
      return;  // with a wrong count of owners, a drop would be a use after release
    }
    this->share(Buffer());
    fixture.expect(source_.is_unique(), "the source is unique when its clones are gone");
    source_ = Buffer();
    this->drop_all();
  }

 private:
  Buffer source_;
};

}  // namespace byre::stress::races
