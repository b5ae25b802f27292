// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// All threads clone a buffer that was never cloned; the first writes its clone, and all let go.
template <unsigned Threads = 2>
class FirstClonesAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  FirstClonesAtOnce() { source_ = buffer_of(7, memory_); }

  void thread(unsigned index) {
    CheckedBuffer clone = source_;
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
  CheckedBuffer source_;
};

const Scenario* const first_clones_at_once_listed[] = {
    scenario<FirstClonesAtOnce<>>(
        "first_clones_at_once",
        "Two threads may lazily clone one buffer, from its very first clone on: promises 2 and 7."),
    scenario<FirstClonesAtOnce<3>>("three_first_clones_at_once", "The same of three threads.",
                                   preemptions(4), preemptions(7)),
};

}  // namespace

}  // namespace byre::verification
