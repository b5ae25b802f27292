// SPDX-License-Identifier: BSL-1.0
/// The mixed workload: programs in many threads at once.
#pragma once

#include "../supervisor.hpp"

namespace byre::stress {

/// The settings have a mix. One runs at a time. The first error ends the process. Throws std::system_error if files or
/// threads cannot be had.
Outcome run_mixed(const char* name, const Settings& settings);

}  // namespace byre::stress
