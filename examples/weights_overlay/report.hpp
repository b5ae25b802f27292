// SPDX-License-Identifier: BSL-1.0
/// What the program found out, as a table for people and as JSON for programs. Both say the same.
#pragma once

#include "options.hpp"
#include "run.hpp"

#include <string>
#include <vector>

namespace examples::weights_overlay {

struct Report {
  Plan plan;
  std::vector<RunResult> runs{};      ///< a column each
  std::vector<std::string> faults{};  ///< of the check, a sentence each
};

std::string table(const Report& report);
std::string json(const Report& report);

}  // namespace examples::weights_overlay
