// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Two threads clone a buffer of borrowed memory, write the clones and let go of them; then the
/// buffer itself is written, and the lender looks at its memory.
template <template <class> class Share, bool ReadOnly>
class BorrowedMemory {
 public:
  static constexpr unsigned threads = 2;

  BorrowedMemory() {
    Execution::current().name(&lent_, sizeof lent_, "lent");
    if constexpr (ReadOnly) {
      source_ = CheckedBuffer<Share>::borrow(static_cast<const void*>(&lent_), cells(1), memory_);
    } else {
      source_ = CheckedBuffer<Share>::borrow(static_cast<void*>(&lent_), cells(1), memory_);
    }
  }

  void thread(unsigned index) {
    CheckedBuffer<Share> clone = source_;
    expect(!clone.shares_data_with(source_), "a clone outlives what its source has borrowed");
    expect(clone.is_unique(), "so it is alone from the first");
    expect(write(clone, index) == Written::in_place, "and a write does not copy again");
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    const Written how = write(source_, 8);
    expect((how == Written::in_a_copy) == ReadOnly, "only a read-only loan is copied");
    drop(source_);
    expect(lent_.get() == (ReadOnly ? 7U : 8U), "the lender sees writes to what it lent for that");
    expect(memory_.copies() == threads + (ReadOnly ? 1U : 0U), "each clone makes one copy");
  }

 private:
  Tracked memory_;
  Cell lent_{7};
  CheckedBuffer<Share> source_;
};

}  // namespace byre::verification
