// SPDX-License-Identifier: BSL-1.0
#include <iterator>

#include "litmus/tests.hpp"
#include "programs/programs.hpp"
#include "scenario.hpp"

namespace byre::verification {

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

std::span<const Scenario* const> all_scenarios() {
  static constexpr const Scenario* scenarios[] = {
      &writers_race_writers,
      &restless_writers_race_writers,
      &drops_race_drops,
      &reads_race_a_steal,
      &first_clones_at_once,
      &failing_copies,
      &handles_race_handles,
      &last_handles_race,
      &locked_writers_race_writers,
      &locked_drops_race_drops,
      &locked_reads_race_a_steal,
      &locked_first_clones_at_once,
      &locked_failing_copies,
      // Negative controls: designs that are wrong, and have to be found so.
      &count_then_lock_drops,
      &count_then_lock_writes,
  };
  static const std::vector<const Scenario*> all = [&] {
    std::vector<const Scenario*> list(std::begin(scenarios), std::end(scenarios));
    for (const auto& group :
         {program_scenarios(), litmus_of_orders(), litmus_of_release_sequences(), litmus_of_locks(),
          litmus_of_parking(), litmus_of_memory()}) {
      for (const Scenario& scenario : group) {
        list.push_back(&scenario);
      }
    }
    return list;
  }();
  return all;
}

}  // namespace byre::verification
