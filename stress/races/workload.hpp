// SPDX-License-Identifier: BSL-1.0
/// A race as a workload of byre-stress.
#pragma once

#include "../outcome.hpp"
#include "../watch.hpp"
#include "race.hpp"

namespace byre::stress {

/// Until the time or the operations of the settings are up, a round being one operation of each
/// thread; of at least two threads, and without the settings' mix, storages and faults, of which the
/// outcome's settings tell. The buffers are small, if the settings' sizes allow that: races
/// are about steps, not bytes.
/// Throws as Race::run.
Outcome run_race(const Race& race, const Settings& settings, Watch& watch);

}  // namespace byre::stress
