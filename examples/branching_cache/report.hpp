// SPDX-License-Identifier: BSL-1.0
/// What the program found out, as a table for people and as JSON for programs. Both say the same.
#pragma once

#include "options.hpp"
#include "run.hpp"

#include <string>
#include <vector>

namespace examples::branching_cache {

struct Report {
  Plan plan;
  Results results;
  std::vector<std::string> faults;  ///< of the check, a sentence each
};

std::string table(const Report& report);
std::string json(const Report& report);

}  // namespace examples::branching_cache
