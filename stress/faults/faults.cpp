// SPDX-License-Identifier: BSL-1.0
#include "faults.hpp"

#include "../mixed/workload.hpp"
#include "truncated_file.hpp"

namespace byre::stress {

Outcome run_faults(const Settings& settings, Monitor& monitor) {
  // Before there are other threads: it forks.
  FaultCount truncations;
  const auto failures = survive_truncated_files(truncations);
  Outcome outcome = run_mixed("faults", settings, monitor);
  outcome.counts.faults[Fault::truncation] = truncations;
  outcome.failures.insert(outcome.failures.end(), failures.begin(), failures.end());
  return outcome;
}

}  // namespace byre::stress
