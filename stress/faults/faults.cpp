// SPDX-License-Identifier: BSL-1.0
#include "faults.hpp"

#include "../world/mixed.hpp"
#include "truncated_file.hpp"

namespace byre::stress {

Outcome run_faults(const Settings& settings, Watch& watch) {
  // Before there are other threads, since it takes a process.
  FaultCount truncations;
  const auto failures = survive_truncated_files(truncations);
  Outcome outcome = run_mixed_as("faults", settings, watch);
  outcome.tally.faults[Fault::truncation] = truncations;
  outcome.failures.insert(outcome.failures.end(), failures.begin(), failures.end());
  return outcome;
}

}  // namespace byre::stress
