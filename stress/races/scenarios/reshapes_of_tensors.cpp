// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "../run_scenario.hpp"
#include "../spin_barrier.hpp"

namespace byre::stress::races {
namespace {

/// Tensors in the reshape mode `error`, in which an access that relies on an alias throws a report.
/// First all threads reshape one tensor, the base, at once. Then, by random choices, they read the
/// base and their reshaped tensor, reshape both again, and write half or all of it. Writes are
/// exclusive, as tensors require; everything else is concurrent.
///
/// Each reshape begins a new view family (the tensors that observe each other's writes whether
/// reshape() copies or not). If a family is accessed after a write of another family, the access is
/// reported once. A read is reported once more if it reads elements that its family did not
/// overwrite since. Reports must name the source lines of the access and the write, and reads must
/// return the last write.
class ReshapesOfTensors final : public Scenario {
 public:
  explicit ReshapesOfTensors(Fixture& fixture)
      : fixture_(fixture), reshaped_(fixture.threads), families_(fixture.threads) {}

  void prepare() override {
    shadow::reset_summary();
    base_.tensor = Tensor::empty({2 * half}, DType::i64, fixture_.memory);
    fill_(base_.tensor, 0);
    base_.knowledge = {};
    last_ = {};
    values_ = {};
    reports_ = 0;
    reshapes_ = 0;
  }

  void act(unsigned thread) override {
    const shadow::ReshapeModeScope scope(shadow::ReshapeMode::error);
    try {
      reshape(thread, base_.tensor, {});
    } catch (...) {
      reshaped_.arrive_and_wait();
      throw;
    }
    reshaped_.arrive_and_wait();
    fixture_.take_turns(thread, turns, [&](std::uint64_t random) { take_turn(thread, random); });
    fixture_.drop(thread, families_[thread].tensor);
  }

  void check() override {
    check_base_reads();
    const shadow::Summary summary = shadow::summary();
    std::uint64_t counted = 0;
    for (const shadow::Violation& triple : summary.triples) {
      counted += triple.count;
    }
    fixture_.expect_equal(summary.violations, reports_, "violations in the summary");
    fixture_.expect_equal(counted, reports_, "counts of triples");
    fixture_.expect_equal(summary.reshapes, reshapes_, "watched reshapes");
    base_.tensor = Tensor();
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  static constexpr std::int64_t half = 4;  ///< the number of elements in a half
  static constexpr int turns = 8;
  static constexpr std::uint32_t no_thread = 99;  ///< the "writer" of the initial contents

  struct Write {
    std::uint64_t number = 0;
    std::uint32_t by = no_thread;
  };
  /// The number of the last write that a family knows (`known`), and the writes that it has not
  /// read (`unread`, 0 for none). Each has two candidates if the family was created from the base
  /// while other threads were reading the base.
  struct Knowledge {
    std::array<std::uint64_t, 2> known{};
    std::array<Write, 2> unread{};
  };
  struct alignas(64) Family {
    Tensor tensor;
    Knowledge knowledge;
  };
  enum LineBase : std::uint32_t { reshapes = 100, reads = 200, writes = 300 };
  static CallSite line(LineBase base, std::uint32_t thread) { return {"tensors", base + thread}; }

  void take_turn(unsigned thread, std::uint64_t random) {
    Family& mine = families_[thread];
    const std::uint64_t choice = random % 8;
    if (choice < 5) {
      const std::shared_lock lock(mutex_);
      switch (choice) {
        case 0:
          // Other threads may read the base at the same time, and may get the report instead.
          return reshape(
              thread, base_.tensor,
              {{base_.knowledge.known[0], last_.number}, {base_.knowledge.unread[0], Write{}}});
        case 1:
          return reshape(thread, mine.tensor, mine.knowledge);
        case 2:
          return read_base();
        default:
          fixture_.record("reads");
          expect_reported(read_and_check(mine, thread), mine.knowledge, true);
          mine.knowledge = {{last_.number, last_.number}, {}};
          return;
      }
    }
    const std::unique_lock lock(mutex_);
    check_base_reads();
    fixture_.record("writes");
    choice == 7 ? write(base_, no_thread, random / 8) : write(mine, thread, random / 8);
  }

  void reshape(unsigned thread, const Tensor& input, const Knowledge& knowledge) {
    fixture_.record("reshapes");
    Family& mine = families_[thread];
    mine.tensor = input.reshape({2, half}, line(LineBase::reshapes, thread));
    mine.knowledge = knowledge;
    ++reshapes_;
  }

  /// Other threads may read the base at the same time. If a read has to be reported, one or more of
  /// these reads are.
  void read_base() {
    fixture_.record("reads the base");
    base_reads_.fetch_add(1, std::memory_order_relaxed);
    if (read_and_check(base_, no_thread)) {
      base_reports_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Requires exclusive access. Checks how many of the concurrent reads of the base since the last
  /// call were reported.
  void check_base_reads() {
    const std::uint64_t readers = base_reads_.exchange(0, std::memory_order_relaxed);
    const std::uint64_t reports = base_reports_.exchange(0, std::memory_order_relaxed);
    if (readers != 0) {
      expect_reported(reports != 0, base_.knowledge, true);
      fixture_.expect(reports <= readers, "at most one report per read");
      base_.knowledge = {{last_.number, last_.number}, {}};
    }
  }

  void write(Family& family, std::uint32_t by, std::uint64_t random) {
    const Write next{last_.number + 1, by};
    const std::uint64_t which = random % 3;  // which half, or 2 for all
    const std::int64_t first = which == 1 ? half : 0;
    const Tensor flat = family.tensor.view({2 * half});
    Tensor written = flat.narrow(0, first, which == 2 ? 2 * half : half);
    const Knowledge before = family.knowledge;
    const bool was_reported = is_access_reported(
        [&] { fill_(written, std::int64_t(next.number), line(LineBase::writes, by)); }, by,
        LineBase::writes, before);
    expect_reported(was_reported, before, false);
    family.knowledge.known.fill(next.number);
    if (which == 2) {
      family.knowledge.unread = {};
    } else if (was_reported) {
      family.knowledge.unread.fill(last_);
    }
    last_ = next;
    (which == 1 ? values_[1] : values_[0]) = next.number;
    values_[1] = which == 2 ? next.number : values_[1];
  }

  bool read_and_check(Family& family, std::uint32_t by) {
    const auto read = [&] {
      const auto* const elements = family.tensor.data<std::int64_t>(line(LineBase::reads, by));
      for (std::int64_t index = 0; index < 2 * half; ++index) {
        fixture_.expect_equal(static_cast<std::uint64_t>(elements[index]),
                              values_[index < half ? 0 : 1], "a read returns the last write");
      }
    };
    return is_access_reported(read, by, LineBase::reads, family.knowledge);
  }

  void expect_reported(bool is_reported, const Knowledge& knowledge, bool is_read) {
    bool may_be = false;
    bool may_not_be = false;
    for (const std::uint64_t known : knowledge.known) {
      for (const Write& unread : knowledge.unread) {
        const bool is = known != last_.number || (is_read && unread.number != 0);
        may_be = may_be || is;
        may_not_be = may_not_be || !is;
      }
    }
    fixture_.expect(is_reported ? may_be : may_not_be,
                    "an access is reported iff another family wrote before it");
  }

  /// Attempts an access twice. Returns true if the first attempt threw a report. Fails if the
  /// second attempt throws one.
  template <class Act>
  bool is_access_reported(const Act& act, std::uint32_t by, LineBase base,
                          const Knowledge& knowledge) {
    try {
      act();
      return false;
    } catch (const shadow::ReshapeViolation& error) {
      const shadow::Violation& violation = error.violation();
      const auto is_of = [&](const Write& write) {
        return violation.write.site.line == LineBase::writes + write.by &&
               (violation.reshape.site.line == LineBase::reshapes + by ||
                violation.reshape.site.line == LineBase::reshapes + write.by);
      };
      fixture_.expect((is_of(last_) || is_of(knowledge.unread[0]) || is_of(knowledge.unread[1])) &&
                          violation.access.site.line == base + by,
                      "a report has the right lines");
    }
    ++reports_;
    act();
    return true;
  }

  Fixture& fixture_;
  SpinBarrier reshaped_;
  std::vector<Family> families_;
  std::shared_mutex mutex_;
  // Guarded by the mutex: written with exclusive access.
  Family base_;
  Write last_;
  std::array<std::uint64_t, 2> values_{};  ///< the last value of each half
  // Counts since the last exclusive access.
  std::atomic<std::uint64_t> base_reads_{0};
  std::atomic<std::uint64_t> base_reports_{0};
  std::atomic<std::uint64_t> reports_{0};
  std::atomic<std::uint64_t> reshapes_{0};
};

}  // namespace

RaceResult run_reshapes_of_tensors(const RaceSettings& settings) {
  return run_scenario<ReshapesOfTensors>(settings);
}

}  // namespace byre::stress::races
