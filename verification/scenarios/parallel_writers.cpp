// SPDX-License-Identifier: BSL-1.0
/// Two or three threads of a parallel loop request write access to one storage at once, while
/// another storage shares its data. One thread copies, every thread then writes its own part, and
/// the clone does not change. Without one of the locks of the table, a thread reads the storage
/// while another thread replaces its data. Without the notification, a thread sleeps forever.
#include "parallel_writers.hpp"

namespace byre::verification {
namespace {

template <unsigned Writers>
class WritersOfShared : public WritersInParallel<Writers> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a thread sleeps while another copies",
      "a thread arrives after the copy",
  };

  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "lock_table.sleep") {
      cover("a thread sleeps while another copies");
    } else if (site.name == "share_word.finish_copy") {
      is_copied_ = true;
    } else if (site.name == "lock_table.lock_to_enter" && is_copied_) {
      cover("a thread arrives after the copy");
    }
  }

 private:
  bool is_copied_ = false;
};

/// While two threads of a loop write, a third thread writes or drops the clone.
template <bool Writes>
class LoopRacesAClone : public LoopOverStorage<2> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {
      "the loop copies",
      "the loop steals the original",
  };

  void thread(unsigned index) {
    if (index < 2) {
      write(index);
    } else if (Writes) {
      cell(clone_.mutable_data()).set(9);
    } else {
      clone_ = Storage();
    }
  }

  void after() {
    expect_written();
    const bool loop_copied = handles_[0].data() != original_;
    cover(loop_copied ? "the loop copies" : "the loop steals the original");
    if (Writes) {
      expect(cell(clone_.data()).get() == 9, "the clone is written");
      expect(memory_.copies() == 1, "exactly one of the two storages copies");
    } else {
      expect(memory_.copies() == (loop_copied ? 1U : 0U), "the loop copies at most once");
      expect(memory_.frees() == memory_.copies(),
             "the original is freed if and only if the loop copied");
    }
  }

 private:
  const std::byte* const original_ = handles_[0].data();
};

/// Two threads of a loop write, and their allocations and copies may fail.
class FailingLoops : public TwoThreads, public LoopOverStorage<2> {
 public:
  static constexpr std::string_view cover_points[] = {
      "one thread fails and the other copies",
      "both fail",
  };

  FailingLoops() { memory_.set_faults(Faults::both); }

  void thread(unsigned index) {
    wrote_[index] = succeeds([&] { write(index); });
  }

  void after() {
    const unsigned failed = (wrote_[0] ? 0U : 1U) + (wrote_[1] ? 0U : 1U);
    for (unsigned index = 0; index < threads; ++index) {
      expect(cell(handles_[0].data(), index).get() == (wrote_[index] ? index : 7),
             "a part has its write, or the old value");
    }
    expect_clone_unwritten();
    expect(failed == memory_.failures(),
           "each failed write is due to its own failed allocation or copy");
    expect(memory_.copies() == (failed == 2 ? 0U : 1U), "one thread copies unless all fail");
    expect(clone_.is_unique() == (failed != 2), "the clone is unique unless all fail");
    if (failed != 0) {
      cover(failed == 2 ? "both fail" : "one thread fails and the other copies");
    }
  }

 private:
  bool wrote_[threads] = {};
};

/// Each thread releases its handle after its write. The last release destroys the storage.
class LoopsEnd : public TwoThreads, public LoopOverStorage<2> {
 public:
  LoopsEnd() { clone_ = Storage(); }

  void thread(unsigned index) {
    write(index);
    handles_[index] = Storage();
  }

  void after() { expect(memory_.frees() == 1, "the storage is freed once"); }
};

const Scenario* const parallel_writers_scenarios[] = {
    scenario<WritersOfShared<2>>("writers_in_parallel",
                                 "Two threads request write access to one storage at once: one "
                                 "copies, and each then writes its part: promise 9.",
                                 reduced_search),
    scenario<WritersOfShared<3>>("three_writers_in_parallel",
                                 "Three threads request write access to one storage at once: one "
                                 "copies, and each then writes its part.",
                                 2, 4),
    scenario<LoopRacesAClone<true>>(
        "loops_race_a_writer",
        "A loop counts as one writer among the writers of other storages: promises 1, 3 and 9.", 2,
        4),
    scenario<LoopRacesAClone<false>>(
        "loops_race_a_drop", "The other owner drops while a loop starts: promises 1, 4 and 9.", 2,
        4),
    scenario<FailingLoops>("failing_loops",
                           "If the copy of a thread of a loop fails, nothing changes, and the "
                           "next thread tries to copy: promises 5 and 9.",
                           reduced_search),
    scenario<LoopsEnd>(
        "loops_end",
        "The storage may be destroyed as soon as its last writer has finished: promise 9.",
        reduced_search),
    scenario<NeighboursAreLocked<Locks>>("neighbours_are_locked",
                                         "Addresses of one bucket have separate locks, and each "
                                         "waiter gets the lock of its address.",
                                         3, reduced_search),
};

}  // namespace
}  // namespace byre::verification
