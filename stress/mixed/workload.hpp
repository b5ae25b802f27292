// SPDX-License-Identifier: BSL-1.0
/// The mixed workload: every operation of Buffer and Storage, by many threads at once.
#pragma once

#include <string>

#include "../outcome.hpp"
#include "../watch.hpp"

namespace byre::stress {

/// By one thread at a time. Throws std::system_error where files cannot be had, and
/// boost::thread_resource_error where threads cannot.
Outcome run_mixed(const Settings& settings, Watch& watch);

/// The same under another name, of a workload that is more than this.
Outcome run_mixed_as(const std::string& workload, const Settings& settings, Watch& watch);

}  // namespace byre::stress
