// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// Two threads clone a buffer of borrowed memory and write the clones; then the buffer itself is
/// written and let go of, the lender looks at its memory and takes it back, and the clones live on.
template <bool ReadOnly>
class BorrowedMemory {
 public:
  static constexpr unsigned threads = 2;

  BorrowedMemory() {
    lent_.emplace(7U);
    Execution::current().name(&*lent_, sizeof(Cell), "lent");
    if constexpr (ReadOnly) {
      source_ = CheckedBuffer::borrow(static_cast<const void*>(&*lent_), cells(1), memory_);
    } else {
      source_ = CheckedBuffer::borrow(static_cast<void*>(&*lent_), cells(1), memory_);
    }
  }

  void thread(unsigned index) {
    auto& clone = clones_[index];
    clone = source_;
    expect(!clone.shares_data_with(source_), "a clone outlives what its source has borrowed");
    expect(clone.is_unique(), "so it is alone from the first");
    expect(read(clone) == 7, "it is a clone all the same");
    if (index == 0) {
      expect(write(clone, 0) == Written::in_place, "and a write does not copy again");
    }
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    const Written how = write(source_, 8);
    expect((how == Written::in_a_copy) == ReadOnly, "only a read-only loan is copied");
    expect(memory_.copies() == threads + (ReadOnly ? 1U : 0U), "each clone makes one copy");
    drop(source_);
    expect(lent_->get() == (ReadOnly ? 7U : 8U), "the lender sees writes to what it lent for that");
    lent_.reset();
    expect(read(clones_[0]) == 0 && read(clones_[1]) == 7, "the clones outlive the loan");
  }

 private:
  Tracked memory_;
  std::optional<Cell> lent_;
  CheckedBuffer source_;
  CheckedBuffer clones_[threads];
};

const Scenario* const borrowed_memory_listed[] = {
    scenario<BorrowedMemory<false>>("borrowed_memory",
                                    "Borrowed memory may be cloned by two threads at once, and no "
                                    "clone depends on the loan: promises 1 and 7."),
    scenario<BorrowedMemory<true>>(
        "read_only_loan",
        "The same of memory that must not be written: the lender's stays as it is."),
};

}  // namespace

}  // namespace byre::verification
