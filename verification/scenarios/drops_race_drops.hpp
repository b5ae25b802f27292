// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All owners read, and let go.
template <template <class> class Share, unsigned Owners = 2>
class DropsRaceDrops {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned index) {
    expect(read(buffers_[index]) == 7, "an owner reads what it was given");
    drop(buffers_[index]);
  }

  void after() { expect(buffers_.memory.frees() == 1, "the data is freed once"); }

 private:
  SharedBuffers<Share, threads> buffers_;
};

}  // namespace byre::verification
