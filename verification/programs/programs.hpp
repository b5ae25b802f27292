// SPDX-License-Identifier: BSL-1.0
/// All small programs as scenarios: one for each family of them, and any one by itself.
#pragma once

#include <string>

#include "../scenario.hpp"

namespace byre::verification {

/// One program by its name, "write; drop | clone-write", as a scenario of that name. Throws
/// std::invalid_argument, which says what is wrong.
const Scenario& program_scenario(const std::string& name);

}  // namespace byre::verification
