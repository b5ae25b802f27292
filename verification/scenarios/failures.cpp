// SPDX-License-Identifier: BSL-1.0
/// Owners write, resize and clone while the scheduler makes allocations and copies fail. A failed
/// operation changes nothing, its owner is counted once, and no other owner is affected. Without
/// the wake of abandon_copy the last owner sleeps forever.
#include "buffers.hpp"
#include "sleepers.hpp"

namespace byre::verification {
namespace {

/// All owners write, except the last `Others`, which only hold their buffers. The scheduler chooses
/// which allocations and copies fail.
template <unsigned Writers, unsigned Others = 0, Faults MayFail = Faults::both>
class FailingCopies {
 public:
  static constexpr unsigned threads = Writers;
  static constexpr unsigned owners = Writers + Others;
  static constexpr std::string_view cover_points[] = {
      "a copy is abandoned",
      "a copy is abandoned while the last owner sleeps",
  };

  FailingCopies() { buffers_.memory.set_faults(MayFail); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    wrote_[index] = succeeds([&] { write(buffer, index); });
    expect(read(buffer) == (wrote_[index] ? index : 7), "a write succeeds, or changes nothing");
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy") {
      cover(sleeper_.sleeps() ? "a copy is abandoned while the last owner sleeps"
                              : "a copy is abandoned");
    }
    sleeper_.on_step(site, value);
  }

  void after() {
    unsigned unwritten = 0;
    for (unsigned index = 0; index < owners; ++index) {
      expect(read(buffers_[index]) == (wrote_[index] ? index : 7),
             "each owner reads what it wrote, or the old value");
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == Others + buffers_.memory.failures(),
           "a write fails only if the scheduler failed it");
    for (unsigned index = 0; index < owners; ++index) {
      expect(buffers_[index].is_unique() == (wrote_[index] || unwritten == 1),
             "an owner shares the original if and only if it did not write");
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten),
             "each owner is counted once");
    }
  }

 private:
  SharedBuffers<owners> buffers_;
  bool wrote_[owners] = {};
  Sleeper sleeper_;
};

/// The copies of two of three owners fail at once. The third owner owns the data to the end, so the
/// two owners never wait.
using FailedOwnersAreCounted =
    WithCoverPoints<FailingCopies<2, 1, Faults::allocations>, "a copy is abandoned">;

/// One owner reads and drops. The other, if it is the only owner, grows its buffer. The growth may
/// fail.
class FailingResizes : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "a resize fails",
      "a resize succeeds",
  };

  FailingResizes() { buffers_.memory.set_faults(Faults::both); }

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader's bytes never move");
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
    cover(is_shared ? "a resize is rejected" : resizes ? "a resize succeeds" : "a resize fails");
    expect(resized_.nbytes() == cells(resizes && !is_shared ? 2 : 1),
           "a resize that fails changes nothing");
    expect(read(resized_) == 7, "the bytes do not change in either case");
  }

 private:
  SharedBuffers<threads> buffers_;
  CheckedBuffer& reader_ = buffers_[0];
  CheckedBuffer& resized_ = buffers_[1];
};

/// Two threads clone borrowed memory. Each clone is a copy, and the copy may fail.
class FailingClonesOfBorrowed : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "a clone fails",
      "a clone succeeds",
  };

  FailingClonesOfBorrowed() {
    source_ = CheckedBuffer::borrow(static_cast<void*>(&lent_), cells(1), memory_);
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    const bool clones = succeeds([&] {
      CheckedBuffer clone = source_.lazy_clone();
      expect(!clone.shares_data_with(source_), "a clone is a copy, or fails");
      expect(write(clone, index) == Written::in_place,
             "a write to the copy is in place, so it cannot fail");
    });
    cover(clones ? "a clone succeeds" : "a clone fails");
    expect(read(source_) == 7, "the source does not change");
  }

  void after() {
    expect(memory_.copies() == threads - memory_.failures(), "each clone is one copy, or fails");
    expect(source_.use_count() == 1, "a failed clone is not counted as an owner");
    expect(write(source_, 8) == Written::in_place, "the source is written in place");
    expect(lent_.get() == 8, "the lender reads the write");
  }

 private:
  Tracked memory_;
  Cell lent_{7};
  CheckedBuffer source_;
};

const Scenario* const failures_scenarios[] = {
    scenario<FailingCopies<2>>("failing_copies",
                               "A write whose allocation or copy fails changes nothing and affects "
                               "no other owner: promise 5, I3, I4.",
                               reduced_search),
    scenario<FailingCopies<3>>("three_failing_copies",
                               "Three owners write, and the copy of each may fail.", 1, 3),
    scenario<FailingResizes>("failing_resizes",
                             "A resize that cannot move the data changes nothing: promise 5."),
    scenario<FailingClonesOfBorrowed>(
        "failing_clones_of_a_loan",
        "A failed clone of borrowed memory leaves its source unchanged: promise 5."),
    scenario<FailedOwnersAreCounted>(
        "failed_owners_are_counted",
        "Owners whose concurrent copies fail are owners again, each counted once: promise 5.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
