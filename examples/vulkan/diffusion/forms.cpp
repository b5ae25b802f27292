// SPDX-License-Identifier: BSL-1.0
// The forms that the step has on a device.
#include <array>
#include <byre/functional/functionalize/transform.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "simulation.hpp"
#include "step_spirv.h"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {

using byre::Tensor;
using byre::functional::Tensors;
using vulkan::Gpu;
using vulkan::Use;

Form functionalized(const Tensor& grid) {
  // A view of the grid is one step for the device, however many views of views it is.
  const auto program =
      byre::functional::functionalize(step, {.paths = byre::functional::ViewPaths::strides});
  const Tensors inputs = {vulkan::to_vulkan(grid)};
  return {.step = [=] { program(inputs); },
          .snapshot = [=] { return inputs[0].as<vulkan::VulkanTensor>()->tensor(); }};
}

Form by_hand(const Tensor& grid) {
  struct Grids {
    Tensor now, after;
  };
  const auto grids = std::make_shared<Grids>(
      Grids{grid.to(Gpu::get().device()),
            Tensor::empty(grid.sizes(), grid.dtype(), Gpu::get().device())});
  const auto record = [grids] {
    const struct {
      std::uint32_t size;
      Rates rates;
    } parameters{static_cast<std::uint32_t>(grids->now.sizes()[1] - 2), {}};
    const std::array uses = {
        Use{grids->after.mutable_raw_data(), grids->after.nbytes(), Use::write},
        Use{grids->now.raw_data(), grids->now.nbytes(), Use::read}};
    Gpu::get().queue().dispatch({step_spirv}, uses, std::as_bytes(std::span(&parameters, 1)),
                                {(parameters.size + 63) / 64, parameters.size, 1});
    std::swap(grids->now, grids->after);
  };
  return {.step = record, .snapshot = [grids] { return grids->now.lazy_clone(); }};
}

}  // namespace examples::diffusion
