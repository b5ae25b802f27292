// SPDX-License-Identifier: BSL-1.0
/// The workloads by name. One runs at a time: byre's counters are the process's.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "monitor.hpp"
#include "outcome.hpp"

namespace byre::stress {

struct Workload {
  std::string_view name;
  std::string_view shows;     ///< in half a line
  bool is_race = false;       ///< takes two threads at least, and neither mix, storages nor faults
  FaultRates usual_faults{};  ///< unless others are given
  std::function<Outcome(const Settings& settings, Monitor& monitor)> run;
};

std::span<const Workload> all_workloads();

}  // namespace byre::stress
