// SPDX-License-Identifier: BSL-1.0
/// The workload of faults: the mixed one with injected faults, and files truncated under their mappings.
#pragma once

#include "../monitor.hpp"
#include "../outcome.hpp"

namespace byre::stress {

/// Throws as run_mixed.
Outcome run_faults(const Settings& settings, Monitor& monitor);

}  // namespace byre::stress
