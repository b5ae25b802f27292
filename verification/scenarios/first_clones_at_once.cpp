// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// All threads clone a buffer that was never cloned; the first writes its clone, and all let go.
template <template <class> class Share, unsigned Threads = 2>
class FirstClonesAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  FirstClonesAtOnce() { source_ = buffer_of<Share>(7, memory_); }

  void thread(unsigned index) {
    CheckedBuffer<Share> clone = source_;
    expect(read(clone) == 7, "a clone reads what its source does");
    if (index == 0) {
      expect(write(clone, 8) == Written::in_a_copy, "the source is an owner still");
    }
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    expect(source_.is_unique(), "no owner is counted that is gone");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> source_;
};

}  // namespace

const Scenario first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word>>({
    .name = "first_clones_at_once",
    .shows = "Two threads may lazily clone one buffer, from its very first clone on: promises 2 "
             "and 7.",
});

const Scenario three_first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word, 3>>({
    .name = "three_first_clones_at_once",
    .shows = "The same of three threads.",
    .quick = preemptions(4),
    .deep = preemptions(7),
});

const Scenario locked_first_clones_at_once =
    textbook_scenario<FirstClonesAtOnce<basic_share_lock>>("locked_first_clones_at_once");

const Scenario locked_three_first_clones_at_once =
    scenario<FirstClonesAtOnce<basic_share_lock, 3>>({
        .name = "locked_three_first_clones_at_once",
        .shows = "The same of three threads.",
        .quick = preemptions(3),
        .deep = preemptions(5),
    });

}  // namespace byre::verification
