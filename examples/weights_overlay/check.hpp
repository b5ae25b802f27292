// SPDX-License-Identifier: BSL-1.0
/// Whether all runs computed the same and copied what they had to.
#pragma once

#include "options.hpp"
#include "run.hpp"

#include <string>
#include <vector>

namespace examples::weights_overlay {

/// What is wrong, a sentence each. The first run is the one to compare others with.
std::vector<std::string> check(const std::vector<RunResult>& runs, const Plan& plan);

}  // namespace examples::weights_overlay
