// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

namespace byre::verification {

extern const Scenario drops_race_drops;
extern const Scenario locked_drops_race_drops;
extern const Scenario locked_reads_race_a_steal;
extern const Scenario locked_writers_race_writers;
extern const Scenario reads_race_a_steal;
extern const Scenario writers_race_writers;

extern const Scenario count_then_lock_drops;
extern const Scenario count_then_lock_writes;

std::span<const Scenario* const> all_scenarios() noexcept {
  static constexpr const Scenario* scenarios[] = {
      &writers_race_writers,
      &drops_race_drops,
      &reads_race_a_steal,
      &locked_writers_race_writers,
      &locked_drops_race_drops,
      &locked_reads_race_a_steal,
      // Negative controls: designs that are wrong, and have to be found so.
      &count_then_lock_drops,
      &count_then_lock_writes,
  };
  return scenarios;
}

}  // namespace byre::verification
