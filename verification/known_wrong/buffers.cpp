// SPDX-License-Identifier: BSL-1.0
/// Buffers and headers, wrong.
#include <byre/storage/detail/allocated.hpp>

#include "../scenarios/buffers.hpp"
#include "../scenarios/sole_owners.hpp"
#include "../search.hpp"
#include "wrong_syncs.hpp"

namespace byre::verification {
namespace {

/// Wrong: an owner that has dropped the data reads the header once more, though only a field that never
/// changes.
class ReadsAfterDrop {
 public:
  static constexpr unsigned threads = 2;

  ReadsAfterDrop() { header_.share().add_owner(); }

  void thread(unsigned) {
    if (header_.share().drop_owner()) {
      header_.release();
    } else {
      expect(header_.capacity() != 0, "the header still reads what it read");
    }
  }

 private:
  using Allocated = cow::basic_allocated<Checked>;

  Tracked memory_;
  cow::basic_header<Checked>& header_ = *Allocated::create(1, memory_);
};

/// As published, and wrong: plain data becomes shared data by its first lazy clone, which rewrites
/// the pointer of the buffer it clones. To the user that is a read, which two threads may do.
class PlainUntilCloned {
 public:
  PlainUntilCloned() = default;
  PlainUntilCloned(const PlainUntilCloned& source) {
    if (source.shared_.get() == nullptr) {
      source.shared_.set(&source.word_);
    }
    shared_.set(source.shared_.get());
  }

 private:
  mutable Checked::Plain<void*> shared_{nullptr};
  mutable int word_ = 0;  // stands for what the first clone allocates
};

/// As first_clones_at_once.
class FirstCloneRewritesSource {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned) { const PlainUntilCloned clone = source_; }

 private:
  PlainUntilCloned source_;
};

const Scenario* const wrong_buffers_listed[] = {
    wrong<ReadsRaceASteal<RelaxedLoads<Checked>>>(
        "known_wrong.relaxed_uniqueness_writes",
        "A relaxed load of the count does not order a write after a former owner's reads: I5.",
        Verdict::data_race),
    wrong<ResizesRaceDrops<RelaxedLoads<Checked>>>("known_wrong.relaxed_uniqueness_resizes",
                                                   "Nor a change of size: I5.", Verdict::data_race),
    wrong<ReadsAfterDrop>(
        "known_wrong.reads_after_drop",
        "Even a constant of the header is read while its last owner frees it: I2.",
        Verdict::data_race),
    wrong<FirstCloneRewritesSource>(
        "known_wrong.first_clone_rewrites_source",
        "Two first lazy clones at once race where a clone rewrites its source: promise 7.",
        Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
