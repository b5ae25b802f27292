// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/device_queue.hpp"

namespace byre::verification {
namespace {

/// Wrong: owners claim in order without the lock that makes the claim and the submission one.
class ClaimsWithoutTheirTurn {
 public:
  static constexpr unsigned threads = 2;

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
class CopiesEndAtSubmission {
 public:
  static constexpr unsigned threads = 2;

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

const Scenario* const wrong_submitted_copies_listed[] = {
    wrong<ClaimsWithoutTheirTurn>("known_wrong.claims_without_their_turn",
                                  "Where a claim in order and the submission of its copy are two "
                                  "steps, the last owner's write is submitted in between.",
                                  Verdict::wrong_answer),
    wrong<CopiesEndAtSubmission>("known_wrong.copies_end_at_submission",
                                 "A copy that ends before the device has made it lets the last "
                                 "owner write what is still to be read.",
                                 Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
