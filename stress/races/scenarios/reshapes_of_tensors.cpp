// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor.hpp>

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "../run_scenario.hpp"
#include "../spin_barrier.hpp"

namespace byre::stress::races {
namespace {

/// Tensors, in error mode, so that each access says whether it was reported. All threads reshape one tensor
/// for the first time at once; then they read it and what they reshaped, reshape both again, and write
/// all or half of it, by a seed. Writes are alone, as tensors ask for, and everything else is at once.
/// Who accesses what another family wrote has one report, and one more where it reads what it then
/// did not write over, by the right lines; and reads what was written last. Tensors know one Sync, the
/// one that ships: what is perturbed is what comes between their operations.
class ReshapesOfTensors final : public Scenario {
 public:
  explicit ReshapesOfTensors(Fixture& fixture)
      : fixture_(fixture), reshaped_(fixture.threads), families_(fixture.threads) {}

  void prepare() override {
    shadow::reset_summary();
    base_.tensor = Tensor::empty({2 * half}, DType::i64, fixture_.memory);
    fill_(base_.tensor, 0);
    base_.knows = {};
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
    settle();
    const shadow::Summary summary = shadow::summary();
    std::uint64_t counted = 0;
    for (const shadow::Violation& triple : summary.triples) {
      counted += triple.count;
    }
    fixture_.expect_equal(summary.violations, reports_, "violations in the summary");
    fixture_.expect_equal(counted, reports_, "counts of triples");
    fixture_.expect_equal(summary.reshapes, reshapes_, "reshapes that are watched");
    base_.tensor = Tensor();
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks that nobody owns");
  }

 private:
  static constexpr std::int64_t half = 4;  ///< of the elements
  static constexpr int turns = 8;
  static constexpr std::uint32_t nobody =
      99;  ///< a thread's number, of what the storage began with

  struct Write {
    std::uint64_t number = 0;
    std::uint32_t by = nobody;
  };
  /// Which write a family knows of, and which it has not read, 0 for none: one of two each, where it came
  /// out of one that reads were telling at the same time.
  struct Knows {
    std::array<std::uint64_t, 2> known{};
    std::array<Write, 2> left{};
  };
  struct alignas(64) Family {
    Tensor tensor;
    Knows knows;
  };
  enum At : std::uint32_t { reshapes = 100, reads = 200, writes = 300 };
  static CallSite line(At at, std::uint32_t thread) { return {"tensors", at + thread}; }

  void take_turn(unsigned thread, std::uint64_t random) {
    Family& mine = families_[thread];
    const std::uint64_t choice = random % 8;
    if (choice < 5) {
      const std::shared_lock lock(mutex_);
      switch (choice) {
        case 0:
          // Where others read it at the same time, and may have a report.
          return reshape(thread, base_.tensor,
                         {{base_.knows.known[0], last_.number}, {base_.knows.left[0], Write{}}});
        case 1:
          return reshape(thread, mine.tensor, mine.knows);
        case 2:
          return read_base();
        default:
          fixture_.record("reads");
          expect_reported(tell_of_read(mine, thread), mine.knows, true);
          mine.knows = {{last_.number, last_.number}, {}};
          return;
      }
    }
    const std::unique_lock lock(mutex_);
    settle();
    fixture_.record("writes");
    choice == 7 ? write(base_, nobody, random / 8) : write(mine, thread, random / 8);
  }

  void reshape(unsigned thread, const Tensor& input, const Knows& knows) {
    fixture_.record("reshapes");
    Family& mine = families_[thread];
    mine.tensor = input.reshape({2, half}, line(At::reshapes, thread));
    mine.knows = knows;
    ++reshapes_;
  }

  /// Which others do too: one of them has a report, or some.
  void read_base() {
    fixture_.record("reads what was reshaped");
    base_reads_.fetch_add(1, boost::memory_order_relaxed);
    if (tell_of_read(base_, nobody)) {
      base_reports_.fetch_add(1, boost::memory_order_relaxed);
    }
  }

  /// Alone: how many reads of the base had a report since there was one last.
  void settle() {
    const std::uint64_t readers = base_reads_.exchange(0, boost::memory_order_relaxed);
    const std::uint64_t reports = base_reports_.exchange(0, boost::memory_order_relaxed);
    if (readers != 0) {
      expect_reported(reports != 0, base_.knows, true);
      fixture_.expect(reports <= readers, "each read has one report");
      base_.knows = {{last_.number, last_.number}, {}};
    }
  }

  void write(Family& family, std::uint32_t by, std::uint64_t random) {
    const Write next{last_.number + 1, by};
    const std::uint64_t which = random % 3;  // half, or 2 for all
    const std::int64_t first = which == 1 ? half : 0;
    const Tensor flat = family.tensor.view({2 * half});
    Tensor written = flat.narrow(0, first, which == 2 ? 2 * half : half);
    const Knows before = family.knows;
    const bool was_reported =
        tell([&] { fill_(written, std::int64_t(next.number), line(At::writes, by)); }, by,
             At::writes, before);
    expect_reported(was_reported, before, false);
    family.knows.known.fill(next.number);
    if (which == 2) {
      family.knows.left = {};
    } else if (was_reported) {
      family.knows.left.fill(last_);
    }
    last_ = next;
    (which == 1 ? values_[1] : values_[0]) = next.number;
    values_[1] = which == 2 ? next.number : values_[1];
  }

  bool tell_of_read(Family& family, std::uint32_t by) {
    const auto read = [&] {
      const auto* const elements = family.tensor.data<std::int64_t>(line(At::reads, by));
      for (std::int64_t index = 0; index < 2 * half; ++index) {
        fixture_.expect_equal(static_cast<std::uint64_t>(elements[index]),
                              values_[index < half ? 0 : 1], "a read sees the last write");
      }
    };
    return tell(read, by, At::reads, family.knows);
  }

  void expect_reported(bool is_reported, const Knows& knows, bool is_read) {
    bool may_be = false;
    bool may_not_be = false;
    for (const std::uint64_t known : knows.known) {
      for (const Write& left : knows.left) {
        const bool is = known != last_.number || (is_read && left.number != 0);
        may_be = may_be || is;
        may_not_be = may_not_be || !is;
      }
    }
    fixture_.expect(is_reported ? may_be : may_not_be,
                    "who accesses what another family wrote has a report, and nobody else");
  }

  /// Whether the first try was refused; the second is not.
  template <class Act>
  bool tell(const Act& act, std::uint32_t by, At at, const Knows& knows) {
    try {
      act();
      return false;
    } catch (const shadow::ReshapeViolation& error) {
      const shadow::Violation& violation = error.violation();
      const auto is_of = [&](const Write& write) {
        return violation.write.site.line == At::writes + write.by &&
               (violation.reshape.site.line == At::reshapes + by ||
                violation.reshape.site.line == At::reshapes + write.by);
      };
      fixture_.expect((is_of(last_) || is_of(knows.left[0]) || is_of(knows.left[1])) &&
                          violation.access.site.line == at + by,
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
  // Guarded by the mutex: written by who is alone.
  Family base_;
  Write last_;
  std::array<std::uint64_t, 2> values_{};  ///< of each half
  // Since somebody was alone last.
  boost::atomic<std::uint64_t> base_reads_{0};
  boost::atomic<std::uint64_t> base_reports_{0};
  boost::atomic<std::uint64_t> reports_{0};
  boost::atomic<std::uint64_t> reshapes_{0};
};

}  // namespace

RaceResult run_reshapes_of_tensors(const RaceSettings& settings) {
  return run_scenario<ReshapesOfTensors>(settings);
}

}  // namespace byre::stress::races
