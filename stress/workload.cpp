// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <vector>

#include "faults/truncated_file.hpp"
#include "mixed/workload.hpp"
#include "races/workload.hpp"

namespace byre::stress {
namespace {

/// Throws as run_mixed.
Outcome run_faults(const Settings& settings, Monitor& monitor) {
  // Before there are other threads: it forks.
  FaultCount truncations;
  const auto failures = survive_truncated_files(truncations);
  Outcome outcome = run_mixed("faults", settings, monitor);
  outcome.counts.faults[Fault::truncation] = truncations;
  outcome.failures.insert(outcome.failures.end(), failures.begin(), failures.end());
  return outcome;
}

}  // namespace

std::span<const Workload> all_workloads() {
  static const auto workloads = [] {
    std::vector<Workload> all{
        {.name = "mixed",
         .shows = "every operation of Buffer and Storage, in a random mix",
         .run = [](const Settings& settings,
                   Monitor& monitor) { return run_mixed("mixed", settings, monitor); }},
        {.name = "faults",
         .shows = "the same, while allocations, copies and sinks fail and files are truncated",
         .usual_faults = stress::usual_faults,
         .run = &run_faults},
    };
    for (const Race& race : all_races()) {
      all.push_back({.name = race.name,
                     .shows = race.shows,
                     .is_race = true,
                     .run = [&race](const Settings& settings, Monitor& monitor) {
                       return run_race(race, settings, monitor);
                     }});
    }
    return all;
  }();
  return workloads;
}

}  // namespace byre::stress
