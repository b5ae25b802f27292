// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <vector>

#include "faults/faults.hpp"
#include "races/workload.hpp"
#include "world/mixed.hpp"

namespace byre::stress {

std::span<const Workload> all_workloads() {
  static const auto workloads = [] {
    std::vector<Workload> all{
        {"mixed", "every operation of Buffer and Storage, in a random mix", &run_mixed},
        {"faults", "the same, while allocations, copies and sinks fail and files are truncated",
         &run_faults},
    };
    for (const Race& race : all_races()) {
      all.push_back({race.name, race.shows, [&race](const Settings& settings, Watch& watch) {
                       return run_race(race, settings, watch);
                     }});
    }
    return all;
  }();
  return workloads;
}

}  // namespace byre::stress
