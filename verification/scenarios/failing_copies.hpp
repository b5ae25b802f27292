// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Two owners write, and the scheduler chooses which allocations and copies fail.
template <template <class> class Share>
class FailingCopies {
 public:
  static constexpr unsigned threads = 2;

  FailingCopies() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    buffers_[1] = buffers_[0];
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    try {
      write(buffer, index);
      wrote_[index] = true;
    } catch (const OutOfMemory&) {
    } catch (const CopyFailed&) {
    }
    expect(read(buffer) == (wrote_[index] ? index : 7), "a write succeeds, or changes nothing");
  }

  void after() {
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == (wrote_[index] ? index : 7),
             "each owner keeps what it wrote, or had");
    }
    expect(wrote_[0] || wrote_[1] || memory_.failures() == 2, "only a failure keeps from writing");
    const bool share = !wrote_[0] && !wrote_[1];
    expect(buffers_[0].is_unique() != share, "who failed owns still");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
  bool wrote_[threads] = {};
};

}  // namespace byre::verification
