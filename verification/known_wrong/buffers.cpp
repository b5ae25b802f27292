// SPDX-License-Identifier: BSL-1.0
/// Buffers, headers and copies that end later, wrong.
#include <byre/storage/detail/allocated.hpp>

#include "../scenarios/buffers.hpp"
#include "../scenarios/device_queue.hpp"
#include "../scenarios/sole_owners.hpp"
#include "wrong_syncs.hpp"

namespace byre::verification {
namespace {

/// Wrong: an owner that has dropped the data reads the header once more, though only a field that never
/// changes.
class ReadsAfterDrop : public TwoThreads {
 public:
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
class FirstCloneRewritesSource : public TwoThreads {
 public:
  void thread(unsigned) { const PlainUntilCloned clone = source_; }

 private:
  PlainUntilCloned source_;
};

/// Wrong: owners claim in order without the lock that makes the claim and the submission one.
class ClaimsWithoutTheirTurn : public TwoThreads {
 public:
  ClaimsWithoutTheirTurn() { word_.add_owner(); }

  void thread(unsigned) {
    if (word_.claim_in_order() == Claim::copy) {
      lock_.pass_through();  // where the copy is submitted
      expect(!is_written_, "what is submitted to be copied was not submitted to be written before");
      static_cast<void>(word_.finish_copy());
    } else {
      lock_.pass_through();
      is_written_ = true;
    }
  }

 private:
  basic_share_word<Checked> word_;
  ModelLock lock_;
  bool is_written_ = false;
};

/// Wrong: an allocator ends a copy that it has submitted, and that the device has yet to make.
class CopiesEndAtSubmission : public TwoThreads {
 public:
  CopiesEndAtSubmission() {
    LocksIn<Locks>::table();
    source_ = Buffer::allocate(cells(1), device_);
    device_.submit_write(source_.mutable_data(), 7);
    device_.run();
    writer_ = source_;
  }

  void thread(unsigned index) {
    if (index == 1) {
      device_.run();
      return;
    }
    writer_.mutable_data();
    cell(source_.mutable_data()).set(8);
  }

 private:
  using Buffer = basic_buffer<LocksIn<Locks>>;

  DeviceQueue device_{CopiesEnd::later, true};
  Buffer source_;
  Buffer writer_;
};

const Scenario* const known_wrong_buffers[] = {
    known_wrong<ReadsRaceASteal<RelaxedLoads<Checked>>>(
        "known_wrong.relaxed_uniqueness_writes",
        "A relaxed load of the count does not order a write after a former owner's reads: I5.",
        Verdict::data_race),
    known_wrong<ResizesRaceDrops<RelaxedLoads<Checked>>>(
        "known_wrong.relaxed_uniqueness_resizes", "Nor a change of size: I5.", Verdict::data_race),
    known_wrong<ReadsAfterDrop>(
        "known_wrong.reads_after_drop",
        "Even a constant of the header is read while its last owner frees it: I2.",
        Verdict::data_race),
    known_wrong<FirstCloneRewritesSource>(
        "known_wrong.first_clone_rewrites_source",
        "Two first lazy clones at once race where a clone rewrites its source: promise 7.",
        Verdict::data_race),
    known_wrong<ClaimsWithoutTheirTurn>(
        "known_wrong.claims_without_their_turn",
        "Where a claim in order and the submission of its copy are two "
        "steps, the last owner's write is submitted in between.",
        Verdict::wrong_answer),
    known_wrong<CopiesEndAtSubmission>(
        "known_wrong.copies_end_at_submission",
        "A copy that ends before the device has made it lets the last "
        "owner write what is still to be read.",
        Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
