// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "pending_copies.hpp"

namespace byre::stress::races {

/// The others stay in their copies until the last owner has written. It must not wait, or no thread would
/// get any further: so it copies too. The last copier releases the original.
template <class Buffer>
class NeverWaits final : public PendingCopies<Buffer> {
 public:
  using PendingCopies<Buffer>::PendingCopies;

  void act(unsigned thread) override {
    if (thread != this->special_thread()) {
      this->write(thread);
      return;
    }
    this->await_copiers();
    this->write(thread, Wait::never);
    this->release_copiers();
  }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_copies(threads);
    this->expect_live_blocks(threads, "blocks of the writers");
    for (unsigned thread = 0; thread < threads; ++thread) {
      this->expect_written(thread);
    }
    this->drop_all();
  }
};

}  // namespace byre::stress::races
