// SPDX-License-Identifier: BSL-1.0
/// Known-wrong uses of buffers, headers and deferred copies. In each, two threads share data and
/// one of them breaks a rule of the protocol: the checker has to find the race or the wrong value.
#include <byre/storage/detail/allocated.hpp>

#include "../scenarios/buffers.hpp"
#include "../scenarios/device_queue.hpp"
#include "../scenarios/sole_owners.hpp"
#include "../step_of.hpp"
#include "wrong_syncs.hpp"

namespace byre::verification {
namespace {

/// Wrong: after its drop, an owner reads a field of the header. The read is wrong even if the field
/// never changes, because the last owner may have freed the header.
class ReadsAfterDrop : public TwoThreads {
 public:
  ReadsAfterDrop() { header_.share().add_owner(); }

  void thread(unsigned) {
    if (header_.share().drop_owner()) {
      header_.release();
    } else {
      expect(header_.capacity() != 0, "the header has its old value");
    }
  }

 private:
  using Allocated = cow::basic_allocated<Checked>;

  Tracked memory_;
  cow::basic_header<Checked>& header_ = *Allocated::create(1, memory_);
};

/// Wrong, as in a published design: the first lazy clone turns plain data into shared data by
/// replacing the pointer in its source. Users may clone the source from two threads at once,
/// because a clone is a read of its source.
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
  mutable int word_ = 0;  // stands for the object that the first clone allocates
};

/// The threads clone one source for the first time, as in the scenario first_clones_at_once.
class FirstCloneRewritesSource : public TwoThreads {
 public:
  void thread(unsigned) { const PlainUntilCloned clone = source_; }

 private:
  PlainUntilCloned source_;
};

/// Wrong: owners claim in queue order without their turn. The turn is the lock that makes the claim
/// and the submission of the copy one step.
class ClaimsWithoutTheirTurn : public TwoThreads {
 public:
  ClaimsWithoutTheirTurn() { word_.add_owner(); }

  void thread(unsigned) {
    if (word_.claim_in_order() == Claim::copy) {
      lock_.pass_through();  // submits the copy
      expect(!is_written_, "no write is submitted before the copy");
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

/// Wrong: an allocator reports the end of a copy before the device has made it.
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

/// Wrong: the first request for a version publishes the number before it adds the watch, the second
/// owner on behalf of the storage. Another storage shares the data.
class PublishesFirst : public TwoThreads {
 public:
  PublishesFirst() { word_.add_owner(); }

  void thread(unsigned index) {
    if (index == 0) {
      number_.store(1, step_of<"publishes_first.publish">(std::memory_order::release));
      word_.add_owner();
    } else if (number_.load(step_of<"publishes_first.number">(std::memory_order::acquire)) != 0) {
      expect(!word_.is_unique(2), "shared data is not unique");
    }
  }

 private:
  basic_share_word<Checked> word_;
  Checked::Atomic<std::uint64_t> number_{0};
};

/// Wrong: a writer claims before it ends its watch. Two storages share the data, and each has a
/// watch.
class ClaimsWithAWatch : public TwoThreads {
 public:
  ClaimsWithAWatch() { word_.add_owners(3); }

  void thread(unsigned) {
    if (word_.claim() == Claim::copy) {
      ++copies_;
      static_cast<void>(word_.drop_owner());
      static_cast<void>(word_.finish_copy());
    } else {
      word_.drop_owners(1);
    }
  }

  void after() { expect(copies_ == 1, "two writers make one copy"); }

 private:
  basic_share_word<Checked> word_;
  unsigned copies_ = 0;
};

const Scenario* const known_wrong_buffers[] = {
    known_wrong<ReadsRaceASteal<RelaxedLoads<Checked>>>(
        "known_wrong.relaxed_uniqueness_writes",
        "A relaxed load of the count does not order a write after a former owner's reads: I5.",
        Verdict::data_race),
    known_wrong<ResizesRaceDrops<RelaxedLoads<Checked>>>(
        "known_wrong.relaxed_uniqueness_resizes",
        "A relaxed load of the count does not order a change of size after a former owner's reads: "
        "I5.",
        Verdict::data_race),
    known_wrong<ReadsAfterDrop>("known_wrong.reads_after_drop",
                                "A read of the header after a drop races the last owner's free, "
                                "even if the field is constant: I2.",
                                Verdict::data_race),
    known_wrong<FirstCloneRewritesSource>(
        "known_wrong.first_clone_rewrites_source",
        "Two concurrent first lazy clones race if a clone rewrites its source: promise 7.",
        Verdict::data_race),
    known_wrong<ClaimsWithoutTheirTurn>(
        "known_wrong.claims_without_their_turn",
        "If a claim in order and the submission of its copy are two steps, the last owner's write "
        "is submitted in between.",
        Verdict::wrong_answer),
    known_wrong<CopiesEndAtSubmission>("known_wrong.copies_end_at_submission",
                                       "If a copy ends before the device has made it, the last "
                                       "owner writes data that is yet to be read.",
                                       Verdict::data_race),
    known_wrong<PublishesFirst>("known_wrong.publishes_first",
                                "If a version is published before its watch is added, shared data "
                                "passes for unique: V1.",
                                Verdict::wrong_answer),
    known_wrong<ClaimsWithAWatch>(
        "known_wrong.claims_with_a_watch",
        "If a writer claims before it ends its watch, both of two writers "
        "copy: V2.",
        Verdict::wrong_answer),
};

}  // namespace
}  // namespace byre::verification
