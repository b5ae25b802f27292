// SPDX-License-Identifier: BSL-1.0
// The forms that the step has on a device.
#include <array>
#include <byre/functional/functionalize/transform.hpp>
#include <cstdint>
#include <span>
#include <utility>

#include "simulation.hpp"
#include "step_spirv.h"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using namespace byre::functional;
using vulkan::Gpu;
using vulkan::Use;
using vulkan::VulkanTensor;

/// A view of the grid is one step for the device, however many views of views it is.
constexpr FunctionalizeOptions by_strides{.paths = ViewPaths::strides};

class Functionalized final : public Form {
 public:
  explicit Functionalized(const Tensor& grid) : inputs_{vulkan::to_vulkan(grid)} {}
  void step() override { program_(inputs_); }
  Tensor snapshot() const override { return inputs_.front().as<VulkanTensor>()->tensor(); }

 private:
  Program program_ = functionalize(diffusion::step, by_strides);
  Tensors inputs_;
};

class ByHand final : public Form {
 public:
  explicit ByHand(const Tensor& grid)
      : size_(static_cast<std::uint32_t>(grid.sizes()[1] - 2)),
        now_(grid.to(Gpu::get().device())),
        after_(Tensor::empty(grid.sizes(), grid.dtype(), Gpu::get().device())) {}

  void step() override {
    const struct {
      std::uint32_t size;
      Rates rates;
    } parameters{size_, {}};
    const std::array uses = {Use{after_.mutable_raw_data(), after_.nbytes(), Use::write},
                             Use{now_.raw_data(), now_.nbytes(), Use::read}};
    Gpu::get().queue().dispatch({step_spirv}, uses, std::as_bytes(std::span(&parameters, 1)),
                                {(size_ + 63) / 64, size_, 1});
    std::swap(now_, after_);
  }
  Tensor snapshot() const override { return now_.lazy_clone(); }

 private:
  std::uint32_t size_;
  Tensor now_;
  Tensor after_;
};

template <class Kind>
std::unique_ptr<Form> start(const Tensor& grid) {
  return std::make_unique<Kind>(grid);
}

}  // namespace

const FormKind forms[form_count] = {
    {"functionalized", "anew in each step, operator by operator", start<Functionalized>},
    {"by hand", "one shader for all of it, from one grid into another", start<ByHand>},
};

}  // namespace examples::diffusion
