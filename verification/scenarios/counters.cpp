// SPDX-License-Identifier: BSL-1.0
/// What the counters and their sinks share between threads.
#include <byre/observe/detail/cells.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

using stats::Counter;

/// One thread counts, another takes snapshots.
class CountsRaceASnapshot {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a snapshot between two counts"};

  void thread(unsigned index) {
    if (index == 0) {
      shard_.add(Counter::copies, 1);
      shard_.add(Counter::copies, -3);
      shard_.add(Counter::live_bytes, 64);
    } else {
      const std::int64_t first = shard_.get(Counter::copies);
      const std::int64_t second = shard_.get(Counter::copies);
      expect(is_one_of_the_counts(first) && is_one_of_the_counts(second),
             "a snapshot has a count that there was");
      expect(first != -2 || second == -2, "a later snapshot has a later count");
      if (first == 1) {
        cover("a snapshot between two counts");
      }
    }
  }

  void after() {
    expect(shard_.get(Counter::copies) == -2 && shard_.get(Counter::live_bytes) == 64,
           "a snapshot afterwards is exact");
  }

 private:
  static bool is_one_of_the_counts(std::int64_t value) {
    return value == 0 || value == 1 || value == -2;
  }

  stats::detail::basic_shard<Checked> shard_;
};

/// A sink is installed and another one is uninstalled, while somebody copies.
class CopiesRaceAnInstallation {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a copy that sees the sink",
                                                      "a copy that misses the sink"};

  void thread(unsigned index) {
    if (index == 0) {
      sinks_.set(true);
      expect(sinks_.is_set(), "who installed a sink has it called");
      others_.set(true);
      others_.set(false);
    } else {
      cover(sinks_.is_set() ? "a copy that sees the sink" : "a copy that misses the sink");
    }
  }

  void after() {
    expect(sinks_.is_set(), "an installed sink is called");
    expect(!others_.is_set(), "an uninstalled sink is not asked for");
  }

 private:
  stats::detail::basic_relaxed_flag<Checked> sinks_;
  stats::detail::basic_relaxed_flag<Checked> others_;
};

}  // namespace

const Scenario counts_race_a_snapshot = scenario<CountsRaceASnapshot>({
    .name = "counts_race_a_snapshot",
    .shows = "A thread's counters lose nothing, and a snapshot of them is never torn.",
});

const Scenario copies_race_an_installation = scenario<CopiesRaceAnInstallation>({
    .name = "copies_race_an_installation",
    .shows = "A copy may miss a sink that is being installed, and no later one does.",
});

}  // namespace byre::verification
