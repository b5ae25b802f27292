// SPDX-License-Identifier: BSL-1.0
/// Two to four owners share data, and all of them write at once. If all may wait, one owner keeps
/// the original and each other owner copies once. If some must not wait, all may copy. If the load
/// of the state is relaxed, a steal races the reads of the copiers. If a wake is missing, the last
/// owner sleeps forever.
#include "buffers.hpp"
#include "sleepers.hpp"

namespace byre::verification {
namespace {

/// All owners write. Only the first `Waiting` owners may wait. The other owners copy rather than
/// wait, so all owners may copy.
template <unsigned Writers, unsigned Waiting = Writers>
class WritersRaceWriters {
 public:
  static constexpr unsigned threads = Writers;
  static constexpr std::string_view cover_points[] = {
      "one owner keeps the original",
      "all copy rather than wait",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads the shared value");
    how_[index] = write(buffer, index, index < Waiting ? Wait::allowed : Wait::never);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    expect(Waiting != 0 || site.operation != sync::Operation::park,
           "a writer that must not wait is never parked");
    sleeper_.on_step(site, value);
    const WordState now(value);
    if (site.name == "share_word.still_pending") {
      cover(now.copies >= 2     ? "the last owner waits for two pending copies"
            : sleeper_.sleeps() ? "the last owner waits for a pending copy"
                                : "the copy ended before the last owner slept");
    } else if (site.name == "share_word.wake_after_copy") {
      cover("the last copy wakes the last owner");
    } else if (site.name == "share_word.finish_copy" && sleeper_.sleeps() && now.copies != 0) {
      cover("one of two copies ends while the last owner sleeps");
    }
    cover_if(sleeper_.sleeps() && now.copies == 2, "two copy while the last owner sleeps");
  }

  void after() {
    unsigned kept = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner reads what it wrote");
      kept += how_[index] == Written::in_place ? 1 : 0;
    }
    cover(kept == 1 ? "one owner keeps the original" : "all copy rather than wait");
    expect(kept == 1 || (kept == 0 && Waiting != Writers), "one owner keeps the original");
    expect(buffers_.memory.copies() == threads - kept, "all other owners copy, once each");
    expect(buffers_.memory.frees() == 1 - kept, "the original is freed if no owner keeps it");
  }

 private:
  SharedBuffers<threads> buffers_;
  Written how_[threads] = {};
  Sleeper sleeper_;
};

using TwoWriters = WithCoverPoints<WritersRaceWriters<2>, "the last owner waits for a pending copy",
                                   "the copy ended before the last owner slept",
                                   "the last copy wakes the last owner">;
template <unsigned Writers>
using ManyWriters =
    WithCoverPoints<WritersRaceWriters<Writers>, "the last owner waits for two pending copies",
                    "one of two copies ends while the last owner sleeps">;
using OneWriterWaits =
    WithCoverPoints<WritersRaceWriters<3, 1>, "one owner keeps the original",
                    "all copy rather than wait", "two copy while the last owner sleeps">;

/// Waiters spin before they park, and wake spuriously.
class SpinningWriters : public WritersRaceWriters<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a waiter is woken spuriously"};

  SpinningWriters() { Checked::spin_limit = 1; }
  ~SpinningWriters() { Checked::spin_limit = 0; }

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.park") {
      cover(parked_ ? "a waiter is woken spuriously" : "a waiter parks");
      parked_ = true;
    }
  }

 private:
  bool parked_ = false;
};

/// Three buffers share data. One thread writes through the first buffer. The other thread drops the
/// third buffer, and then writes through the second.
class WritesAfterADrop : public TwoThreads {
 public:
  void thread(unsigned index) {
    if (index == 1) {
      drop(buffers_[2]);
    }
    write(buffers_[index], index);
  }

  void after() { expect(buffers_.memory.copies() == 1, "one of the two remaining owners copies"); }

 private:
  SharedBuffers<3> buffers_;
};

const Scenario* const writers_race_writers_scenarios[] = {
    scenario<TwoWriters>("writers_race_writers",
                         "Two owners write: exactly one copies, and each reads what it wrote: "
                         "promises 1 and 3, I4, I5, I6."),
    scenario<ManyWriters<3>>("three_writers_race",
                             "Three owners write: exactly two copy: promise 3, I6.", 3, 6),
    scenario<ManyWriters<4>>("four_writers_race",
                             "Four owners write: exactly three copy: promise 3, I6.", 2, 3),
    scenario<SpinningWriters>("restless_writers_race_writers",
                              "Two owners write, spin before they park, and wake spuriously: I3."),
    scenario<WritersRaceWriters<2, 0>>(
        "writers_never_wait",
        "Two writers that must not wait copy instead, and are never parked: I1, I4."),
    scenario<WritersRaceWriters<3, 0>>(
        "three_writers_never_wait",
        "Three writers that must not wait copy instead, and are never parked.", 3, 5),
    scenario<OneWriterWaits>("one_of_three_waits", "One writer may wait, and two must not: I3.", 3,
                             5),
    scenario<WritesAfterADrop>(
        "writes_after_a_drop",
        "A dropped owner is not counted when the next write decides whether to copy: promise 3.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
