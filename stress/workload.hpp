// SPDX-License-Identifier: BSL-1.0
/// The workloads by name. Thread-safe, but one runs at a time: the counters are the process's.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "outcome.hpp"
#include "watch.hpp"

namespace byre::stress {

struct Workload {
  std::string_view name;
  std::string_view shows;     ///< in half a line
  bool is_race = false;       ///< takes two threads at least, and neither mix, storages nor faults
  FaultRates usual_faults{};  ///< unless others are asked for
  std::function<Outcome(const Settings& settings, Watch& watch)> run;
};

std::span<const Workload> all_workloads();

}  // namespace byre::stress
