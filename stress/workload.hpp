// SPDX-License-Identifier: BSL-1.0
/// The workloads by name.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "outcome.hpp"
#include "watch.hpp"

namespace byre::stress {

struct Workload {
  std::string_view name;
  std::string_view shows;  ///< in half a line
  std::function<Outcome(const Settings& settings, Watch& watch)> run;
};

std::span<const Workload> all_workloads();

}  // namespace byre::stress
