// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Two owners of adopted memory read it and let go of it.
template <template <class> class Share>
class DropsRaceDrops {
 public:
  static constexpr unsigned threads = 2;

  DropsRaceDrops() {
    cell_.emplace(7U);
    Execution::current().name(&*cell_, sizeof(Cell), "adopted");
    auto delete_cell = [this](void* data) {
      expect(data == &*cell_, "the deleter is given what was adopted");
      ++deleted_;
      cell_.reset();
    };
    buffers_[0] = CheckedBuffer<Share>::adopt(&*cell_, cells(1), delete_cell, memory_);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    expect(read(buffers_[index]) == 7, "an owner reads what was adopted");
    drop(buffers_[index]);
  }

  void after() { expect(deleted_ == 1, "adopted memory is deleted once"); }

 private:
  Tracked memory_;
  std::optional<Cell> cell_;
  unsigned deleted_ = 0;
  CheckedBuffer<Share> buffers_[threads];
};

}  // namespace byre::verification
