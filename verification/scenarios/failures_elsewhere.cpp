// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// One owner reads and lets go; the other, where it finds itself alone, grows, which may fail.
class FailingResizes {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a resize fails",
      "a resize succeeds",
  };

  FailingResizes() { buffers_.memory.set_faults(Faults::both); }

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader never sees its bytes move");
      drop(reader_);
      return;
    }
    std::size_t count = 1;
    try {
      resized_.resize(cells(2));
      count = 2;
      cover("a resize succeeds");
    } catch (const NotUnique&) {
    } catch (const OutOfMemory&) {
      cover("a resize fails");
    } catch (const CopyFailed&) {
      cover("a resize fails");
    }
    expect(resized_.nbytes() == cells(count), "a resize that fails changes nothing");
    expect(read(resized_) == 7, "the bytes are kept either way");
  }

 private:
  SharedBuffers<threads> buffers_;
  CheckedBuffer& reader_ = buffers_[0];
  CheckedBuffer& resized_ = buffers_[1];
};

/// Two threads clone borrowed memory, of which each clone is a copy that may fail.
class FailingClonesOfALoan {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a clone fails",
      "a clone succeeds",
  };

  FailingClonesOfALoan() {
    source_ = CheckedBuffer::borrow(static_cast<void*>(&lent_), cells(1), memory_);
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    try {
      CheckedBuffer clone = source_.lazy_clone();
      cover("a clone succeeds");
      expect(!clone.shares_data_with(source_), "a clone is a copy, or fails");
      expect(write(clone, index) == Written::in_place, "and no write to it can fail");
    } catch (const OutOfMemory&) {
      cover("a clone fails");
    } catch (const CopyFailed&) {
      cover("a clone fails");
    }
    expect(read(source_) == 7, "the source never notices");
  }

  void after() {
    expect(memory_.copies() == threads - memory_.failures(), "each clone is a copy, or fails");
    expect(source_.use_count() == 1, "a clone that failed is no owner");
    expect(write(source_, 8) == Written::in_place, "the source is written as before");
    expect(lent_.get() == 8, "and the lender sees it");
  }

 private:
  Tracked memory_;
  Cell lent_{7};
  CheckedBuffer source_;
};

const Scenario* const failures_elsewhere_listed[] = {
    scenario<FailingResizes>("failing_resizes",
                             "A resize that has to move and cannot changes nothing: promise 5."),
    scenario<FailingClonesOfALoan>(
        "failing_clones_of_a_loan",
        "A clone of borrowed memory that cannot be copied leaves its source as it was: promise 5."),
};

}  // namespace

}  // namespace byre::verification
