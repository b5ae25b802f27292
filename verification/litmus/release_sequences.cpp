// SPDX-License-Identifier: BSL-1.0
/// How far a release reaches through the steps of others.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// Data, released by one thread; the variable changed by a second; acquired by a third.
template <std::memory_order Published, auto Change>
struct Relay {
  static constexpr unsigned threads = 3;

  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      number.store(1, at(Published));
    } else if (index == 1) {
      Change(number);
    } else if (number.load(at(acquire)) == 2) {
      expect(data.get() == 1, "what was released is seen");
    }
  }

  Cell data{0};
  Number number{0};
};

using ThroughReadModifyWrite =
    Relay<release, [](Number& number) { number.fetch_add(1, at(relaxed)); }>;
using ThroughCompareExchange = Relay<release, [](Number& number) {
  std::uint32_t expected = 1;
  number.compare_exchange_weak(expected, 2, at(relaxed));
}>;
using NotThroughStore = Relay<release, [](Number& number) {
  if (number.load(at(relaxed)) == 1) {
    number.store(2, at(relaxed));
  }
}>;
using NotFromRelaxed = Relay<relaxed, [](Number& number) { number.fetch_add(1, at(acq_rel)); }>;

/// A second, relaxed store by who released.
struct PastOwnStore : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      number.store(1, at(release));
      number.store(2, at(relaxed));
    } else if (number.load(at(acquire)) == 2) {
      expect(data.get() == 1, "what was released is seen");
    }
  }

  Cell data{0};
  Number number{0};
};

/// The count of a shared object: each reads, and counts down; the last one writes.
template <std::memory_order Order>
struct CountedDown {
  static constexpr unsigned threads = 3;

  void thread(unsigned) {
    data.get();
    if (number.fetch_sub(1, at(Order)) == 1) {
      data.set(1);
    }
  }

  Cell data{0};
  Number number{3};
};

const Scenario* const release_sequences_tests[] = {
    litmus_test<ThroughReadModifyWrite>(
        "litmus.release_through_add",
        "A release reaches through another thread's relaxed addition."),
    litmus_test<ThroughCompareExchange>("litmus.release_through_exchange",
                                        "And through its relaxed compare-exchange."),
    litmus_test<NotThroughStore>("litmus.release_cut_by_store",
                                 "Another thread's relaxed store ends it.", Verdict::data_race),
    litmus_test<NotFromRelaxed>("litmus.release_after_the_fact",
                                "A later release by another thread does not stand in for it.",
                                Verdict::data_race),
    litmus_test<PastOwnStore>(
        "litmus.blind.own_relaxed_store",
        "Blind spot: since C++20 a relaxed store by the same thread ends a release too, which is a "
        "race here. The one store in core is by a sole owner, who is alone with the word: I7."),
    litmus_test<CountedDown<acq_rel>>("litmus.count_down_acq_rel",
                                      "The last of a count comes after all the others."),
    litmus_test<CountedDown<acquire>>("litmus.count_down_acquire", "Not without the releases.",
                                      Verdict::data_race),
    litmus_test<CountedDown<release>>("litmus.count_down_release", "Nor without the acquire.",
                                      Verdict::data_race),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
