// SPDX-License-Identifier: BSL-1.0
/// Numbers that all threads may change and that order nothing.
#include <byre/sync/detail/relaxed_counter.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

using Counter = sync::detail::basic_relaxed_counter<Checked>;

/// One thread counts what it hands to another, which looks for that and takes it back. A third adds and
/// subtracts meanwhile. So it is with the active-tracking count.
class CountersCountAll {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"handed over", "not handed over yet"};

  void thread(unsigned index) {
    if (index == 0) {
      counter_.add();
      expect(counter_.value() != 0, "who adds sees that it did");
      handed_.store(1, handing.at(Hand::over, std::memory_order::release));
    } else if (index == 1) {
      const bool is_handed = handed_.load(handing.at(Hand::taken, std::memory_order::acquire)) == 1;
      cover(is_handed ? "handed over" : "not handed over yet");
      if (is_handed) {
        expect(counter_.value() != 0, "who has what was counted sees that it was");
        counter_.subtract();
        is_subtracted_.set(true);
      }
    } else {
      const std::uint64_t before = counter_.add();
      expect(before <= 1, "the value before is that of the others");
      counter_.subtract();
    }
  }

  void after() {
    expect(counter_.value() == (is_subtracted_.get() ? 0 : 1), "a value afterwards is exact");
  }

 private:
  /// How user code hands a storage to another thread. No steps of the library's: not in its tables.
  enum class Hand : std::uint8_t { over, taken };
  static constexpr sync::SiteTable<Hand, 2> handing{{{
      {"hand.over", sync::Operation::store, std::memory_order::release, "taken", "the user's"},
      {"hand.taken", sync::Operation::load, std::memory_order::acquire, "over", "the user's"},
  }}};

  Counter counter_;
  Checked::Atomic<std::uint32_t> handed_{0};
  Checked::Plain<bool> is_subtracted_{false};
};

/// One thread sets a number twice, another looks, as a reshape does for a mode.
class CountersAreSet {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a look before", "a look between",
                                                      "a look after"};

  void thread(unsigned index) {
    if (index == 0) {
      counter_.set(2);
      counter_.set(1);
      expect(counter_.value() == 1, "who sets a number has it");
      return;
    }
    const std::uint64_t first = counter_.value();
    const std::uint64_t second = counter_.value();
    expect(first <= 2 && second <= 2, "a number is one that was set, or the first");
    expect(first != 1 || second == 1, "a later look sees what is later");
    cover(first == 0 ? "a look before" : first == 2 ? "a look between" : "a look after");
  }

  void after() { expect(counter_.value() == 1, "it stays as it was set last"); }

 private:
  Counter counter_;
};

}  // namespace

const Scenario counters_count_all = scenario<CountersCountAll>({
    .name = "counters_count_all",
    .shows = "A counter loses nothing, and who has what was counted never finds it 0.",
});

const Scenario counters_are_set = scenario<CountersAreSet>({
    .name = "counters_are_set",
    .shows = "A number is what was set last, or before.",
});

}  // namespace byre::verification
