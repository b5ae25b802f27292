// SPDX-License-Identifier: BSL-1.0
#include "fused.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "fused_spirv.h"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using vulkan::Gpu;
using vulkan::Use;

struct Parameters {
  std::uint32_t size;
  std::uint32_t periodic;
  Rates rates;
};

}  // namespace

FusedStep::FusedStep()
    : pipeline_(Gpu::get(), std::span<const std::uint32_t>(fused_spirv),
                {.buffers = 2, .push_constants_nbytes = sizeof(Parameters)}) {}

void FusedStep::record(byre::Tensor& after, const byre::Tensor& now, bool periodic,
                       const Rates& rates) const {
  const auto stride = static_cast<std::uint32_t>(now.sizes()[1]);
  const Parameters parameters{stride - 2, periodic, rates};
  const std::array uses = {Use{after.mutable_raw_data(), after.nbytes(), Use::write},
                           Use{now.raw_data(), now.nbytes(), Use::read}};
  Gpu::get().queue().dispatch(pipeline_, uses, std::as_bytes(std::span(&parameters, 1)),
                              (stride + 63) / 64, stride);
}

}  // namespace examples::diffusion
