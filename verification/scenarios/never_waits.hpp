// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All owners write, and all but the first `Waiting` must not wait.
template <template <class> class Share, unsigned Waiting, unsigned Owners>
class NeverWaits {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "one owner keeps the original",
      "all copy, rather than wait",
  };

  NeverWaits() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    how_[index] = write(buffer, index, index < Waiting ? Wait::allowed : Wait::never);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void after() {
    unsigned kept = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner keeps what it wrote");
      kept += how_[index] == Written::in_place ? 1 : 0;
    }
    cover(kept == 1 ? "one owner keeps the original" : "all copy, rather than wait");
    expect(kept <= 1, "at most one owner keeps the original");
    expect(memory_.copies() == threads - kept, "all others copy, once each");
    expect(memory_.frees() == 1 - kept, "the original is freed where nobody keeps it");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
  Written how_[threads] = {};
};

}  // namespace byre::verification
