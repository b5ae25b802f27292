// SPDX-License-Identifier: BSL-1.0
/// The mixed workload: every operation of Buffer and Storage, by many threads at once.
#pragma once

#include <string>

#include "../monitor.hpp"
#include "../outcome.hpp"

namespace byre::stress {

/// `name` is of a workload that is this one, or more. One runs at a time. Throws std::system_error if
/// files or threads cannot be had.
Outcome run_mixed(const std::string& name, const Settings& settings, Monitor& monitor);

}  // namespace byre::stress
