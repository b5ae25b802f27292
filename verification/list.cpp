// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

namespace byre::verification {

extern const Scenario copies_race_an_installation;
extern const Scenario counts_race_a_snapshot;
extern const Scenario drops_race_drops;
extern const Scenario failing_copies;
extern const Scenario first_clones_at_once;
extern const Scenario handles_race_handles;
extern const Scenario last_handles_race;
extern const Scenario locked_drops_race_drops;
extern const Scenario locked_failing_copies;
extern const Scenario locked_first_clones_at_once;
extern const Scenario locked_reads_race_a_steal;
extern const Scenario locked_writers_race_writers;
extern const Scenario reads_race_a_steal;
extern const Scenario restless_writers_race_writers;
extern const Scenario writers_race_writers;

extern const Scenario count_then_lock_drops;
extern const Scenario count_then_lock_writes;

std::span<const Scenario* const> all_scenarios() noexcept {
  static constexpr const Scenario* scenarios[] = {
      &writers_race_writers,
      &restless_writers_race_writers,
      &drops_race_drops,
      &reads_race_a_steal,
      &first_clones_at_once,
      &failing_copies,
      &handles_race_handles,
      &last_handles_race,
      &counts_race_a_snapshot,
      &copies_race_an_installation,
      &locked_writers_race_writers,
      &locked_drops_race_drops,
      &locked_reads_race_a_steal,
      &locked_first_clones_at_once,
      &locked_failing_copies,
      // Negative controls: designs that are wrong, and have to be found so.
      &count_then_lock_drops,
      &count_then_lock_writes,
  };
  return scenarios;
}

}  // namespace byre::verification
