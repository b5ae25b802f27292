// SPDX-License-Identifier: BSL-1.0
/// A race as a workload of byre-stress.
#pragma once

#include "../supervisor.hpp"
#include "race.hpp"

namespace byre::stress {

/// Runs until the duration or the operations of the settings are over; a round is one operation of each thread. Takes
/// two threads at least. Its buffers are small: races are about steps, not bytes. Throws as Race::run.
Outcome run_race(const Race& race, const Settings& settings);

}  // namespace byre::stress
