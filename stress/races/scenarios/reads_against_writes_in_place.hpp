// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <thread>

#include "shared_owners.hpp"

namespace byre::stress::races {

/// All owners but one read and drop. That one polls until it is unique, and then changes size and content
/// in place. Its write has to happen after all that the others read.
template <class Buffer>
class ReadsAgainstWritesInPlace final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    Buffer& owner = this->owners_[thread];
    if (thread != this->special_thread()) {
      this->fixture_.expect_equal(owner.nbytes(), this->fixture_.nbytes, "bytes a reader sees");
      this->expect_original(thread, "what a reader sees");
      this->drop(thread);
      return;
    }
    while (!owner.is_unique()) {
      std::this_thread::yield();
    }
    owner.resize(0);
    owner.resize(this->fixture_.nbytes);
    this->write(thread);
  }

  void check() override {
    this->fixture_.expect_equal(this->fixture_.counts().unique, 1, "writes in place");
    this->expect_live_blocks(1, "blocks of the writer");
    this->expect_written(this->special_thread());
    this->drop_all();
  }
};

}  // namespace byre::stress::races
