// SPDX-License-Identifier: BSL-1.0
// By hand, one shader for all of the step, from one grid into another, in turn.
#include <array>
#include <byre/tensor/tensor.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "form.hpp"
#include "fused_spirv.h"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using vulkan::Gpu;
using vulkan::Use;

struct Parameters {
  std::uint32_t size;
  std::uint32_t periodic;
  Rates rates;
};

class Fused final : public Form {
 public:
  Fused(const Plan& plan, const Tensor& grid)
      : parameters_{static_cast<std::uint32_t>(plan.size), plan.periodic, Rates(plan)},
        now_(grid.to(Gpu::get().device())),
        after_(grid.to(Gpu::get().device())),  // fixed borders are in both
        pipeline_(Gpu::get(), std::span<const std::uint32_t>(fused_spirv),
                  {.buffers = 2, .push_constants_nbytes = sizeof(Parameters)}) {}

  void step() override {
    const std::array uses = {Use{after_.mutable_raw_data(), after_.nbytes(), Use::write},
                             Use{now_.raw_data(), now_.nbytes(), Use::read}};
    Gpu::get().queue().dispatch(pipeline_, uses, std::as_bytes(std::span(&parameters_, 1)),
                                (parameters_.size + 63) / 64, parameters_.size);
    std::swap(now_, after_);
  }
  Tensor snapshot() const override { return now_.lazy_clone(); }

 private:
  Parameters parameters_;
  Tensor now_;
  Tensor after_;
  vulkan::Pipeline pipeline_;
};

}  // namespace

const FormKind fused_form = {"fused",
                             "by hand, one shader for all of it, from one grid into another",
                             [](const Plan& plan, const Tensor& grid) -> std::unique_ptr<Form> {
                               return std::make_unique<Fused>(plan, grid);
                             }};

}  // namespace examples::diffusion
