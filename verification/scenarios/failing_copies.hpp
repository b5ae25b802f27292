// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All owners write, and the scheduler chooses which allocations and copies fail.
template <template <class> class Share, unsigned Owners = 2>
class FailingCopies {
 public:
  static constexpr unsigned threads = Owners;

  FailingCopies() { buffers_.memory.set_faults(Faults::both); }

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
    unsigned unwritten = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == (wrote_[index] ? index : 7),
             "each owner keeps what it wrote, or had");
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == buffers_.memory.failures(), "only a failure keeps from writing");
    for (unsigned index = 0; index < threads; ++index) {
      expect(buffers_[index].is_unique() == (wrote_[index] || unwritten == 1),
             "who failed owns still, and nobody else does");
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten), "each owner once");
    }
  }

 private:
  SharedBuffers<Share, threads> buffers_;
  bool wrote_[threads] = {};
};

}  // namespace byre::verification
