// SPDX-License-Identifier: BSL-1.0
/// All small programs as scenarios: one for each family of them, and any one by itself.
#pragma once

#include <string>

#include "../scenario.hpp"

namespace byre::verification {

/// One program by its name, "write; drop | clone-write", as a scenario of that name; or null.
const Scenario* find_program(const std::string& name);

}  // namespace byre::verification
