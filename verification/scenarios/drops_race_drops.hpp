// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All owners read, and let go.
template <template <class> class Share, unsigned Owners = 2>
class DropsRaceDrops {
 public:
  static constexpr unsigned threads = Owners;

  DropsRaceDrops() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    expect(read(buffers_[index]) == 7, "an owner reads what it was given");
    drop(buffers_[index]);
  }

  void after() { expect(memory_.frees() == 1, "the data is freed once"); }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
};

}  // namespace byre::verification
