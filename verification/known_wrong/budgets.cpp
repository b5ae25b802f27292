// SPDX-License-Identifier: BSL-1.0
/// Known-wrong budgets: counts that exceed their limit, and writers that ask for memory at the
/// wrong time.
#include "../scenarios/budgets.hpp"

namespace byre::verification {
namespace {

/// Wrong: compares with the limit and counts in two steps.
class ComparesThenCounts : public TwoThreads {
 public:
  void thread(unsigned) {
    if (used_.load(step_of<"compares_then_counts.load">(relaxed)) + 2 <= 3) {
      used_.fetch_add(2, step_of<"compares_then_counts.add">(relaxed));
    }
  }
  void after() {
    expect(used_.load(step_of<"compares_then_counts.load">(relaxed)) <= 3,
           "the bytes in use never exceed the limit");
  }

 private:
  Checked::Atomic<std::size_t> used_{0};
};

/// Wrong: the limit and the count are two variables. The count is changed only by a
/// compare-exchange, but a change of the limit does not change it.
class LimitBesideCount : public TwoThreads {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      limit_.store(1, step_of<"limit_beside_count.set">(relaxed));
      had_room_ = used() == 0;
      return;
    }
    std::size_t before = used();
    while (before + 2 <= limit_.load(step_of<"limit_beside_count.limit">(relaxed))) {
      if (used_.compare_exchange_weak(before, before + 2,
                                      step_of<"limit_beside_count.take">(relaxed))) {
        is_taken_ = true;
        return;
      }
    }
  }
  void after() {
    expect(!(had_room_ && is_taken_),
           "no take that the new limit forbids comes after the change of the limit");
  }

 private:
  std::size_t used() const { return used_.load(step_of<"limit_beside_count.used">(relaxed)); }

  Checked::Atomic<std::size_t> used_{0};
  Checked::Atomic<std::size_t> limit_{3};
  bool is_taken_ = false;
  bool had_room_ = false;
};

/// Wrong: counts bytes before it compares, and takes the count back if the limit forbids them.
class CountsThenCompares : public TwoThreads {
 public:
  void thread(unsigned) {
    const auto before = used_.fetch_add(2, step_of<"counts_then_compares.add">(relaxed));
    if (before + 2 > 3) {
      used_.fetch_sub(2, step_of<"counts_then_compares.take_back">(relaxed));
    }
    expect(used_.load(step_of<"counts_then_compares.load">(relaxed)) <= 3,
           "the counted bytes never exceed the limit");
  }

 private:
  Checked::Atomic<std::size_t> used_{0};
};

/// Wrong: a writer that is refused asks while its claim is pending. The reclaimer writes the
/// snapshot, which is the last owner then, and waits for the copy.
class AsksWithItsClaim : public TwoThreads {
 public:
  AsksWithItsClaim() { word_.add_owner(); }

  void thread(unsigned index) {
    if (index == 0 && word_.claim() == Claim::copy) {
      static_cast<void>(word_.claim());  // the reclaimer, for the snapshot
      word_.abandon_copy();
    }
  }

 private:
  basic_share_word<Checked> word_;
};

const Scenario* const known_wrong_budgets[] = {
    known_wrong<ComparesThenCounts>(
        "known_wrong.compares_then_counts",
        "If the comparison and the count are two steps, two takes exceed the limit: B1.",
        Verdict::wrong_answer),
    known_wrong<LimitBesideCount>(
        "known_wrong.limit_beside_count",
        "If the limit is not part of the word that is compared, a take succeeds after the limit "
        "was lowered: B3.",
        Verdict::wrong_answer),
    known_wrong<CountsThenCompares>(
        "known_wrong.counts_then_compares",
        "If bytes are counted before the comparison, the count exceeds the limit: B1.",
        Verdict::wrong_answer),
    known_wrong<AsksWithItsClaim>(
        "known_wrong.asks_with_its_claim",
        "If a writer asks while its claim is pending, a reclaimer that writes waits for it.",
        Verdict::deadlock),
};

}  // namespace
}  // namespace byre::verification
