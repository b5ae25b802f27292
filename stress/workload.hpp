// SPDX-License-Identifier: BSL-1.0
/// The table of workloads. One workload runs at a time, because the counters of byre are per
/// process.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "supervisor.hpp"

namespace byre::stress {

struct Workload {
  std::string_view name;
  std::string_view shows;  ///< a short description
  bool is_race = false;    ///< needs at least two threads, and takes no mix
  std::function<Outcome(const Settings& settings)> run;
};

std::span<const Workload> all_workloads();

/// All workloads if `name` is "all", else the one with this name. Throws std::invalid_argument,
/// with a text for the user.
std::vector<const Workload*> workloads_named(const std::string& name);

}  // namespace byre::stress
