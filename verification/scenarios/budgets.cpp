// SPDX-License-Identifier: BSL-1.0
/// Budgets. The counts: no schedule of takes, returns and changes of the limit exceeds a limit. The
/// writes: a writer whose copy a budget refuses abandons its claim, asks a reclaimer, and claims
/// again; if the reclaimer dropped the other owners, the writer steals.
#include "budgets.hpp"

namespace byre::verification {
namespace {

/// Both threads take 2 of 3 bytes.
class BudgetsNeverOvershoot : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"a take succeeds", "a take is refused"};

  void thread(unsigned) {
    if (count_.take(2) != nullptr) {
      cover("a take is refused");
      return;
    }
    cover("a take succeeds");
    in_use_ += 2;
    expect(in_use_ <= 3, "the bytes in use never exceed the limit");
    expect(count_.used() <= 3, "the counted bytes never exceed the limit");
    in_use_ -= 2;
    count_.give_back(2);
  }

  void after() {
    expect(count_.used() == 0, "all bytes were given back");
    expect(count_.peak() == 2, "one thread used bytes at a time");
    expect(count_.lack(3) == 0 && count_.lack(4) == 1, "the room equals the limit again");
  }

 private:
  Count count_{3};
  unsigned in_use_ = 0;
};

/// Both threads give bytes back.
class ReturnsAddUp : public TwoThreads {
 public:
  ReturnsAddUp() { expect(count_.take(3) == nullptr, "the bytes fit"); }
  void thread(unsigned index) { count_.give_back(index + 1); }
  void after() {
    expect(count_.used() == 0, "all bytes were given back");
    expect(count_.lack(5) == 0 && count_.lack(6) == 1, "the room equals the limit again");
  }

 private:
  Count count_{5};
};

/// Two threads use bytes at the same time.
class PeaksAreExact : public TwoThreads {
 public:
  void thread(unsigned index) {
    expect(count_.take(index + 1) == nullptr, "both takes fit");
    expect(count_.peak() > index, "the peak includes the take");
  }
  void after() {
    expect(count_.used() == 3 && count_.peak() == 3, "both takes are counted at the same time");
    expect(count_.lack(7) == 0 && count_.lack(8) == 1, "the takes leave the rest of the room");
  }

 private:
  Count count_{10};
};

/// One thread lowers the limit while the other takes.
class LimitsRaceTakes : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the take comes first",
                                                      "the change comes first"};

  void thread(unsigned index) {
    if (index == 1) {
      is_taken_ = count_.take(2) == nullptr;
      return;
    }
    count_.set_limit(1);
    had_room_ = count_.lack(1) == 0;
  }
  void after() {
    cover(had_room_ ? "the change comes first" : "the take comes first");
    expect(is_taken_ != had_room_, "a take that the new limit forbids comes before the change");
    expect(count_.limit() == 1, "the limit is the new one");
    expect(count_.used() == (is_taken_ ? 2 : 0), "the take is counted, or refused");
    expect(is_taken_ ? count_.lack(0) == 1 : count_.lack(1) == 0 && count_.lack(2) == 1,
           "the room is that of the new limit");
  }

 private:
  Count count_{3};
  bool is_taken_ = false;
  bool had_room_ = false;
};

/// The children of a budget, which each have room, share the parent's.
class BudgetsNest : public TwoThreads {
 public:
  void thread(unsigned index) {
    const Count* const refusing = children_[index].take(2);
    is_taken_[index] = refusing == nullptr;
    expect(is_taken_[index] || refusing == &parent_, "only the parent lacks room");
  }
  void after() {
    expect(is_taken_[0] != is_taken_[1], "the parent has room for one of the takes");
    expect(parent_.used() == 2 && parent_.lack(1) == 0 && parent_.lack(2) == 1,
           "the parent counts the take");
    for (unsigned index = 0; index < threads; ++index) {
      const bool is_taken = is_taken_[index];
      expect(children_[index].used() == (is_taken ? 2 : 0), "a refused take counts nowhere");
      expect(children_[index].peak() == (is_taken ? 2 : 0), "a refused take raises no peak");
      if (is_taken) {
        children_[index].give_back(2);
      }
      expect(children_[index].lack(3) == 0, "the child has all of its room");
    }
    expect(parent_.used() == 0 && parent_.lack(3) == 0, "the bytes were given back to the parent");
  }

 private:
  Count parent_{3};
  Count children_[2]{Count(3, &parent_), Count(3, &parent_)};
  bool is_taken_[2] = {};
};

/// One thread counts more bytes than the limit allows, while the other takes.
class LimitsCanBeExceeded : public TwoThreads {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      count_.take_beyond_limit(4);
    } else {
      is_taken_ = count_.take(2) == nullptr;
    }
  }
  void after() {
    const unsigned taken = is_taken_ ? 6 : 4;
    expect(count_.used() == taken && count_.peak() == taken, "all bytes are counted");
    count_.give_back(taken);
    expect(count_.lack(3) == 0 && count_.lack(4) == 1, "the room equals the limit again");
  }

 private:
  Count count_{3};
  bool is_taken_ = false;
};

// ---- Writes

/// `Writers` writers and a snapshot share one cell. The budget has room for all copies but one of
/// the writers'. The reclaimer drops the snapshot.
template <unsigned Writers>
class WritersUnderPressure {
 public:
  static constexpr unsigned threads = Writers;
  WritersUnderPressure() : pressure_(Writers - 1) {
    pressure_.on_pressure([this](const void* data) {
      is_asked_ = true;
      return pressure_.drop_once(pressure_.buffers[Writers], data);
    });
  }

  void thread(unsigned index) {
    auto& buffer = pressure_.buffers[index];
    expect(succeeds([&] { write(buffer, index); }), "each write has room, or steals");
    expect(read(buffer) == index, "a writer reads its write");
  }

  void after() {
    expect(is_asked_, "the last owner asks");
    for (unsigned index = 0; index < Writers; ++index) {
      expect(read(pressure_.buffers[index]) == index, "no write changes another owner");
    }
    expect(pressure_.memory.copies() == Writers - 1, "the last owner does not copy");
    expect(pressure_.count.peak() <= pressure_.count.limit(), "the limit was kept");
  }

 private:
  PressedBuffers<Writers + 1> pressure_;
  bool is_asked_ = false;
};

/// A writer without room, while another thread drops the snapshot. The reclaimer gives nothing.
class DropsRelievePressure : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the write steals", "the write fails"};

  void thread(unsigned index) {
    if (index == 1) {
      expect(read(snapshot_) == 7, "a refused write does not show");
      drop(snapshot_);
      return;
    }
    const bool writes =
        succeeds([&] { expect(write(writer_, 8) == Written::in_place, "the write steals"); });
    cover(writes ? "the write steals" : "the write fails");
    expect(read(writer_) == (writes ? 8 : 7), "a refused write changes nothing");
  }
  void after() {
    expect(write(writer_, 9) == Written::in_place, "the writer is the only owner");
    expect(pressure_.memory.copies() == 0, "no copy was made");
  }

 private:
  PressedBuffers<2> pressure_{0};
  CheckedBuffer& writer_ = pressure_.buffers[0];
  CheckedBuffer& snapshot_ = pressure_.buffers[1];
};

/// Two writers without room. The reclaimer fails, so each writer that finds another owner fails.
class ReclaimersFail : public TwoThreads {
 public:
  ReclaimersFail() {
    pressure_.on_pressure([this](const void*) {
      ++calls_;
      return std::size_t{0};
    });
  }
  void thread(unsigned index) {
    auto& buffer = pressure_.buffers[index];
    expect(!succeeds([&] { write(buffer, index); }), "the write is refused");
    expect(read(buffer) == 7, "a refused write changes nothing");
  }
  void after() {
    expect(calls_ == 2, "each write asks once");
    expect(pressure_.buffers[0].use_count() == 2, "each owner is counted once");
    drop(pressure_.buffers[0]);
    expect(write(pressure_.buffers[1], 8) == Written::in_place, "the last owner writes in place");
  }

 private:
  PressedBuffers<2> pressure_{0};
  unsigned calls_ = 0;
};

/// The reclaimer writes the snapshot instead of dropping it: it takes the last room for a copy, so
/// that the writer is the last owner. The other thread drops a third owner.
class ReclaimersWrite : public TwoThreads {
 public:
  ReclaimersWrite() {
    pressure_.on_pressure([this](const void*) {
      if (pressure_.count.limit() != 0) {
        return std::size_t{0};
      }
      pressure_.count.set_limit(cells(1));
      expect(write(pressure_.buffers[1], 9) == Written::in_a_copy,
             "the writer that asks is an owner, and holds no claim");
      return std::size_t{1};
    });
  }
  void thread(unsigned index) {
    if (index == 1) {
      drop(pressure_.buffers[2]);
      return;
    }
    wrote_ = succeeds([&] { write(pressure_.buffers[0], 8); });
  }
  void after() {
    expect(read(pressure_.buffers[0]) == (wrote_ ? 8 : 7),
           "the write succeeds, or changes nothing");
    expect(read(pressure_.buffers[1]) == 9, "the reclaimer's write remains");
    expect(pressure_.memory.copies() == 1, "only the reclaimer copied");
  }

 private:
  PressedBuffers<3> pressure_{0};
  bool wrote_ = false;
};

const Scenario* const budgets_scenarios[] = {
    scenario<BudgetsNeverOvershoot>(
        "budgets_never_overshoot", "The comparison with the limit and the count are one step: B1."),
    scenario<ReturnsAddUp>("returns_add_up", "No concurrent return is lost: B1."),
    scenario<PeaksAreExact>("peaks_are_exact",
                            "The peak is the largest number of bytes that were counted at a time.",
                            reduced_search),
    scenario<LimitsRaceTakes>(
        "limits_race_takes",
        "After a change of the limit no take succeeds that the new limit forbids: B3."),
    scenario<BudgetsNest>("budgets_nest",
                          "A take counts in a budget and in its parent, or nowhere: B2.",
                          reduced_search),
    scenario<LimitsCanBeExceeded>("limits_can_be_exceeded",
                                  "Bytes beyond the limit are counted, and the room recovers."),
    scenario<WritersUnderPressure<2>>(
        "writers_under_pressure",
        "One of two writers has room for a copy; the other one asks and steals: promise 3, I6.",
        reduced_search),
    scenario<WritersUnderPressure<3>>(
        "three_writers_under_pressure",
        "Two of three writers have room for a copy; the third one asks and steals.", 0, 2),
    scenario<DropsRelievePressure>(
        "drops_relieve_pressure",
        "A writer without room claims again after another owner's drop: promise 5, I5."),
    scenario<ReclaimersFail>("reclaimers_fail",
                             "Two writers whose reclaimer fails change nothing: promise 5.", 2, 3),
    scenario<ReclaimersWrite>("reclaimers_write",
                              "A reclaimer may write the data for which the request was made.",
                              reduced_search),
};

}  // namespace
}  // namespace byre::verification
