// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// All owners of the same data write.
template <template <class> class Share, unsigned Writers = 2>
class WritersRaceWriters {
 public:
  static constexpr unsigned threads = Writers;

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads what it was given");
    how_[index] = write(buffer, index);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void after() {
    unsigned kept = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner keeps what it wrote");
      kept += how_[index] == Written::in_place ? 1 : 0;
    }
    expect(kept == 1, "one owner keeps the original");
    expect(buffers_.memory.copies() == threads - 1,
           "writers make one copy fewer than there are owners");
  }

 private:
  SharedBuffers<Share, threads> buffers_;
  Written how_[threads] = {};
};

}  // namespace byre::verification
