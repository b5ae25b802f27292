// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner clones and lets go of both; another writes; a third, if any, lets go.
template <template <class> class Share, unsigned Threads = 2>
class ClonesRaceWriters {
 public:
  static constexpr unsigned threads = Threads;
  static constexpr std::string_view cover_points[] = {
      "the writer keeps the data",
      "the writer copies",
  };

  ClonesRaceWriters() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index == 0) {
      CheckedBuffer<Share> clone = buffer;
      drop(buffer);
      expect(read(clone) == 7, "a clone lives without its source, and sees no other's write");
    } else if (index == 1) {
      cover(write(buffer, 8) == Written::in_place ? "the writer keeps the data"
                                                  : "the writer copies");
    } else {
      drop(buffer);
    }
  }

  void after() {
    expect(read(buffers_[1]) == 8, "the writer keeps what it wrote");
    expect(buffers_[1].is_unique(), "no owner is counted that is gone");
    expect(memory_.copies() == memory_.frees(), "the data dies only where it was copied");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
};

}  // namespace byre::verification
