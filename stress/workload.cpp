// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <stdexcept>
#include <vector>

#include "mixed/workload.hpp"
#include "races/workload.hpp"

namespace byre::stress {
namespace {

/// Threads meet at what they share more often than a program's other steps are taken.
programs::Mix mix_of_threads() {
  programs::Mix mix = programs::usual_mix();
  for (const char* step :
       {"hand", "take", "place_read", "place_clone", "place_put", "place_steal"}) {
    mix[step] *= 10;
  }
  return mix;
}

Outcome run_programs(const char* name, Settings settings, const programs::Mix& mix) {
  settings.mix = settings.mix.value_or(mix);
  return run_mixed(name, settings);
}

}  // namespace

std::span<const Workload> all_workloads() {
  static const auto workloads = [] {
    std::vector<Workload> all{
        {.name = "mixed",
         .shows = "programs over all kinds of storages, in many threads",
         .run =
             [](const Settings& settings) {
               return run_programs("mixed", settings, programs::without_faults(mix_of_threads()));
             }},
        {.name = "faults",
         .shows = "the same, while allocations, copies and sinks fail",
         .run =
             [](const Settings& settings) {
               return run_programs("faults", settings, mix_of_threads());
             }},
    };
    for (const Race& race : all_races()) {
      all.push_back(
          {.name = race.name,
           .shows = race.shows,
           .is_race = true,
           .run = [&race](const Settings& settings) { return run_race(race, settings); }});
    }
    return all;
  }();
  return workloads;
}

std::vector<const Workload*> workloads_named(const std::string& name) {
  std::vector<const Workload*> chosen;
  for (const Workload& workload : all_workloads()) {
    if (name == "all" || name == workload.name) {
      chosen.push_back(&workload);
    }
  }
  if (chosen.empty()) {
    throw std::invalid_argument("there is no workload '" + name + "'; --list has the names");
  }
  return chosen;
}

}  // namespace byre::stress
