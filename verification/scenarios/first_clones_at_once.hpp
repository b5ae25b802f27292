// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Two threads clone a buffer that was never cloned, and let go of the clones or write them.
template <template <class> class Share>
class FirstClonesAtOnce {
 public:
  static constexpr unsigned threads = 2;

  FirstClonesAtOnce() { source_ = buffer_of<Share>(7, memory_); }

  void thread(unsigned index) {
    CheckedBuffer<Share> clone = source_;
    expect(read(clone) == 7, "a clone reads what its source does");
    if (index == 0) {
      expect(write(clone, 8) == Materialized::copied, "the source is an owner still");
    }
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    expect(source_.is_unique(), "no owner is counted that is gone");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> source_;
};

}  // namespace byre::verification
