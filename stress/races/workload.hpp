// SPDX-License-Identifier: BSL-1.0
/// A race as a workload of byre-stress.
#pragma once

#include "../monitor.hpp"
#include "../outcome.hpp"
#include "race.hpp"

namespace byre::stress {

/// Runs until the duration or the operations of the settings are over; a round is one operation of each
/// thread. It takes two threads at least, and ignores mix, storages and faults, as the settings of the
/// outcome say. Its buffers are small if the sizes allow it: races are about steps, not bytes.
/// Throws as Race::run.
Outcome run_race(const Race& race, const Settings& settings, Monitor& monitor);

}  // namespace byre::stress
