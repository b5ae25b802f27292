// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All threads clone a buffer that was never cloned; the first writes its clone, and all let go.
template <template <class> class Share, unsigned Threads = 2>
class FirstClonesAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  FirstClonesAtOnce() { source_ = buffer_of<Share>(7, memory_); }

  void thread(unsigned index) {
    CheckedBuffer<Share> clone = source_;
    expect(read(clone) == 7, "a clone reads what its source does");
    if (index == 0) {
      expect(write(clone, 8) == Written::in_a_copy, "the source is an owner still");
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
