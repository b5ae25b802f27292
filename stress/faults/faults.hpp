// SPDX-License-Identifier: BSL-1.0
/// The workload of faults: the mixed one, with the faults of its settings, and files truncated under
/// their mappings.
#pragma once

#include "../outcome.hpp"
#include "../monitor.hpp"

namespace byre::stress {

/// Throws as run_mixed.
Outcome run_faults(const Settings& settings, Monitor& monitor);

}  // namespace byre::stress
