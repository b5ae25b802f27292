// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// The first owner writes and keeps the result; the others read and let go.
template <template <class> class Share, unsigned Drops = 1>
class DropsRaceCopies {
 public:
  static constexpr unsigned threads = Drops + 1;
  static constexpr std::string_view cover_points[] = {
      "the writer copies",
      "the writer keeps the data",
  };

  DropsRaceCopies() {
    buffers_[0] = buffer_of<Share>(7, memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index != 0) {
      expect(read(buffer) == 7, "an owner reads what it was given");
      drop(buffer);
    } else if (write(buffer, 8) == Written::in_place) {
      expect(memory_.frees() == 0, "what is written in place is nowhere else");
      cover("the writer keeps the data");
    } else {
      cover("the writer copies");
    }
  }

  void after() {
    expect(read(buffers_[0]) == 8, "the writer keeps what it wrote");
    expect(memory_.copies() <= 1, "one writer makes one copy");
    expect(memory_.frees() == memory_.copies(), "the data dies only where it was copied");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
};

}  // namespace byre::verification
