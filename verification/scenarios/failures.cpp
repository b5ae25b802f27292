// SPDX-License-Identifier: BSL-1.0
/// Allocations and copies that the scheduler chooses to fail.
#include "buffers.hpp"
#include "sleepers.hpp"

namespace byre::verification {
namespace {

/// All owners write, but for some that only own, and the scheduler chooses which allocations and copies fail.
template <unsigned Writers, unsigned Others = 0, Faults MayFail = Faults::both>
class FailingCopies {
 public:
  static constexpr unsigned threads = Writers;
  static constexpr unsigned owners = Writers + Others;
  static constexpr std::string_view cover_points[] = {
      "a copy is given up",
      "a copy is given up while the last owner sleeps",
  };

  FailingCopies() { buffers_.memory.set_faults(MayFail); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    wrote_[index] = succeeds([&] { write(buffer, index); });
    expect(read(buffer) == (wrote_[index] ? index : 7), "a write succeeds, or changes nothing");
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy") {
      cover(sleeper_.sleeps() ? "a copy is given up while the last owner sleeps"
                              : "a copy is given up");
    }
    sleeper_.on_step(site, value);
  }

  void after() {
    unsigned unwritten = 0;
    for (unsigned index = 0; index < owners; ++index) {
      expect(read(buffers_[index]) == (wrote_[index] ? index : 7),
             "each owner keeps what it wrote, or had");
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == Others + buffers_.memory.failures(), "only a failure keeps from writing");
    for (unsigned index = 0; index < owners; ++index) {
      expect(buffers_[index].is_unique() == (wrote_[index] || unwritten == 1),
             "an owner whose write failed owns still, and the others have left");
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten), "each owner once");
    }
  }

 private:
  SharedBuffers<owners> buffers_;
  bool wrote_[owners] = {};
  Sleeper sleeper_;
};

/// Two of three owners fail to copy, at once. Where the third owns on, nobody waits.
using FailedOwnersAreCounted =
    WithCoverPoints<FailingCopies<2, 1, Faults::allocations>, "a copy is given up">;

/// One owner reads and lets go; the other, where it finds itself alone, grows, which may fail.
class FailingResizes : public TwoThreads {
 public:
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
    bool is_shared = false;
    const bool resizes = succeeds([&] {
      try {
        resized_.resize(cells(2));
      } catch (const NotUnique&) {
        is_shared = true;
      }
    });
    cover(is_shared ? "a resize is refused" : resizes ? "a resize succeeds" : "a resize fails");
    expect(resized_.nbytes() == cells(resizes && !is_shared ? 2 : 1),
           "a resize that fails changes nothing");
    expect(read(resized_) == 7, "the bytes are kept either way");
  }

 private:
  SharedBuffers<threads> buffers_;
  CheckedBuffer& reader_ = buffers_[0];
  CheckedBuffer& resized_ = buffers_[1];
};

/// Two threads clone borrowed memory, of which each clone is a copy that may fail.
class FailingClonesOfALoan : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "a clone fails",
      "a clone succeeds",
  };

  FailingClonesOfALoan() {
    source_ = CheckedBuffer::borrow(static_cast<void*>(&lent_), cells(1), memory_);
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    const bool clones = succeeds([&] {
      CheckedBuffer clone = source_.lazy_clone();
      expect(!clone.shares_data_with(source_), "a clone is a copy, or fails");
      expect(write(clone, index) == Written::in_place, "and no write to it can fail");
    });
    cover(clones ? "a clone succeeds" : "a clone fails");
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

const Scenario* const failures_scenarios[] = {
    scenario<FailingCopies<2>>("failing_copies",
                               "A write whose allocation or copy fails changes nothing, and nobody "
                               "else notices: promise 5, I3, I4.",
                               reduced_search),
    scenario<FailingCopies<3>>("three_failing_copies",
                               "The same of three owners, any of which may fail.", 1, 3),
    scenario<FailingResizes>("failing_resizes",
                             "A resize that has to move and cannot changes nothing: promise 5."),
    scenario<FailingClonesOfALoan>(
        "failing_clones_of_a_loan",
        "A clone of borrowed memory that cannot be copied leaves its source as it was: promise 5."),
    scenario<FailedOwnersAreCounted>(
        "failed_owners_are_counted",
        "Owners that fail to copy at once own again, each counted once: promise 5.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
