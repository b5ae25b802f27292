// SPDX-License-Identifier: BSL-1.0
/// One shader for all of the step.
#pragma once

#include <byre/tensor/tensor.hpp>

#include "simulation.hpp"
#include "vulkan/device/pipeline.hpp"

namespace examples::diffusion {

class FusedStep {
 public:
  FusedStep();

  /// Records the step from `now` into `after`, grids of the device, which do not overlap.
  void record(byre::Tensor& after, const byre::Tensor& now, bool periodic,
              const Rates& rates) const;

 private:
  vulkan::Pipeline pipeline_;
};

}  // namespace examples::diffusion
