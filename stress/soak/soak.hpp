// SPDX-License-Identifier: BSL-1.0
/// Soak: a long run of all workloads in turn, perturbed and not, with few threads and with many; and whether anything
/// failed or grew meanwhile.
#pragma once

#include "../supervisor.hpp"
#include "resources.hpp"

namespace byre::stress {

/// At least two rotations, unless the user ends it; for the duration of the settings in all. With `operations` it is
/// exactly two, of so many each. The first failure ends it. Prints a page, and returns whether nothing failed or grew.
/// Throws as the workloads do.
bool soak(const Settings& settings);

}  // namespace byre::stress
