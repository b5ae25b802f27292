// SPDX-License-Identifier: BSL-1.0
/// The scenarios of tensors. Tensors have one Sync, the one that ships: perturbed are the gaps between
/// their operations, and both forms of the protocol are the same.
#pragma once

#include "../race.hpp"

namespace byre::stress::races {

RaceResult run_reshapes_of_tensors(const RaceSettings& settings);
RaceResult run_views_of_one_alias(const RaceSettings& settings);

}  // namespace byre::stress::races
