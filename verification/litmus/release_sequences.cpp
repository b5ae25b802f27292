// SPDX-License-Identifier: BSL-1.0
/// How far a release reaches through the steps of others.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// Data, released by one thread; the variable changed by a second; acquired by a third.
struct Relay {
  static constexpr unsigned threads = 3;

  void publish(std::memory_order order) {
    data.set(1);
    number.store(1, at(order));
  }
  void receive() {
    if (number.load(at(acquire)) == 2) {
      expect(data.get() == 1, "what was released is seen");
    }
  }

  Cell data{0};
  Number number{0};
};

struct ThroughReadModifyWrite : Relay {
  void thread(unsigned index) {
    if (index == 0) {
      publish(release);
    } else if (index == 1) {
      number.fetch_add(1, at(relaxed));
    } else {
      receive();
    }
  }
};

struct ThroughCompareExchange : Relay {
  void thread(unsigned index) {
    if (index == 0) {
      publish(release);
    } else if (index == 1) {
      std::uint32_t expected = 1;
      number.compare_exchange_weak(expected, 2, at(relaxed));
    } else {
      receive();
    }
  }
};

struct NotThroughStore : Relay {
  void thread(unsigned index) {
    if (index == 0) {
      publish(release);
    } else if (index == 1) {
      if (number.load(at(relaxed)) == 1) {
        number.store(2, at(relaxed));
      }
    } else {
      receive();
    }
  }
};

struct NotFromRelaxed : Relay {
  void thread(unsigned index) {
    if (index == 0) {
      publish(relaxed);
    } else if (index == 1) {
      number.fetch_add(1, at(acq_rel));
    } else {
      receive();
    }
  }
};

/// A second, relaxed store by who released.
struct PastOwnStore : Relay {
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    if (index == 0) {
      publish(release);
      number.store(2, at(relaxed));
    } else {
      receive();
    }
  }
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
    &litmus_test<ThroughReadModifyWrite>(
        "litmus.release_through_add",
        "A release reaches through another thread's relaxed addition."),
    &litmus_test<ThroughCompareExchange>("litmus.release_through_exchange",
                                         "And through its relaxed compare-exchange."),
    &litmus_test<NotThroughStore>("litmus.release_cut_by_store",
                                  "Another thread's relaxed store ends it.", Verdict::data_race),
    &litmus_test<NotFromRelaxed>("litmus.release_after_the_fact",
                                 "A later release by another thread does not stand in for it.",
                                 Verdict::data_race),
    &litmus_test<PastOwnStore>(
        "litmus.blind.own_relaxed_store",
        "Blind spot: since C++20 a relaxed store by the same thread ends a release too, which is "
        "a race here. The one store in core is by a sole owner, who is alone with the word: I7."),
    &litmus_test<CountedDown<acq_rel>>("litmus.count_down_acq_rel",
                                       "The last of a count comes after all the others."),
    &litmus_test<CountedDown<acquire>>("litmus.count_down_acquire", "Not without the releases.",
                                       Verdict::data_race),
    &litmus_test<CountedDown<release>>("litmus.count_down_release", "Nor without the acquire.",
                                       Verdict::data_race),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
