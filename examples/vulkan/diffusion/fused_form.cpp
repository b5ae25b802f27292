// SPDX-License-Identifier: BSL-1.0
// By hand, one shader for all of the step, from one grid into another, in turn.
#include <byre/tensor/tensor.hpp>
#include <memory>
#include <utility>

#include "form.hpp"
#include "fused.hpp"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;

class Fused final : public Form {
 public:
  Fused(const Plan& plan, const Tensor& grid)
      : periodic_(plan.periodic),
        rates_(plan),
        now_(grid.to(vulkan::Gpu::get().device())),
        after_(Tensor::empty(grid.sizes(), grid.dtype(), now_.device())) {}

  void step() override {
    fused_.record(after_, now_, periodic_, rates_);
    std::swap(now_, after_);
  }
  Tensor snapshot() const override { return now_.lazy_clone(); }

 private:
  bool periodic_;
  Rates rates_;
  Tensor now_;
  Tensor after_;
  FusedStep fused_;
};

}  // namespace

const FormKind fused_form = {"fused",
                             "by hand, one shader for all of it, from one grid into another",
                             [](const Plan& plan, const Tensor& grid) -> std::unique_ptr<Form> {
                               return std::make_unique<Fused>(plan, grid);
                             }};

}  // namespace examples::diffusion
