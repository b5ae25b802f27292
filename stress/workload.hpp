// SPDX-License-Identifier: BSL-1.0
/// The workloads by name. One runs at a time: byre's counters are the process's.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "supervisor.hpp"

namespace byre::stress {

struct Workload {
  std::string_view name;
  std::string_view shows;  ///< in half a line
  bool is_race = false;    ///< takes two threads at least, and no mix
  std::function<Outcome(const Settings& settings)> run;
};

std::span<const Workload> all_workloads();

/// All, or the one of this name. Throws std::invalid_argument, with a text for the user.
std::vector<const Workload*> workloads_named(const std::string& name);

}  // namespace byre::stress
