// SPDX-License-Identifier: BSL-1.0
#include "tensors.hpp"

#include "reshapes_of_tensors.hpp"
#include "views_of_one_alias.hpp"

namespace byre::stress::races {

RaceResult run_reshapes_of_tensors(const RaceSettings& settings) {
  return run_scenario<ReshapesOfTensors>(settings);
}

RaceResult run_views_of_one_alias(const RaceSettings& settings) {
  return run_scenario<ViewsOfOneAlias>(settings);
}

}  // namespace byre::stress::races
