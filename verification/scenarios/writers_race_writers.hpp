// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Two owners of the same data both write.
template <template <class> class Share>
class WritersRaceWriters {
 public:
  static constexpr unsigned threads = 2;

  WritersRaceWriters() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads what it was given");
    how_[index] = write(buffer, index);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void after() {
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner keeps what it wrote");
    }
    expect(how_[0] != how_[1] && how_[0] != Materialized::already_unique &&
               how_[1] != Materialized::already_unique,
           "one of two writers steals, and the other copies");
    expect(memory_.copies() == 1, "two writers make one copy");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
  Materialized how_[threads] = {};
};

}  // namespace byre::verification
