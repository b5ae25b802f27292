// SPDX-License-Identifier: BSL-1.0
// The program of the step, functionalized: once, or in each step.
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <memory>
#include <utility>

#include "form.hpp"
#include "simulation.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using namespace byre::functional;
using vulkan::VulkanTensor;

/// A view of the grid is one step for the device, however many views of views it is.
constexpr FunctionalizeOptions by_strides{.paths = ViewPaths::strides};

class Captured final : public Form {
 public:
  Captured(const Plan& plan, const Tensor& grid)
      : graph_(captured_step(plan).graph), grid_(vulkan::to_vulkan(grid)) {}

  void step() override {
    grid_ = execute(graph_, {grid_}).front();
  }
  Tensor snapshot() const override { return grid_.as<VulkanTensor>()->tensor(); }

 private:
  Graph graph_;
  AnyTensor grid_;
};

class Eager final : public Form {
 public:
  Eager(const Plan& plan, const Tensor& grid)
      : program_(functionalize(step_program(plan), by_strides)), inputs_{vulkan::to_vulkan(grid)} {}

  void step() override { program_(inputs_); }
  Tensor snapshot() const override { return inputs_.front().as<VulkanTensor>()->tensor(); }

 private:
  Program program_;
  Tensors inputs_;
};

template <class Kind>
std::unique_ptr<Form> start(const Plan& plan, const Tensor& grid) {
  return std::make_unique<Kind>(plan, grid);
}

}  // namespace

CapturedProgram captured_step(const Plan& plan) {
  CapturedProgram captured = capture(step_program(plan), {from_cpu(first_grid(plan))}, by_strides);
  eliminate_common_subexpressions(captured.graph);
  eliminate_dead_code(captured.graph);
  return captured;
}

const FormKind captured_form = {"captured", "functionalized once, executed as a graph",
                                start<Captured>};
const FormKind eager_form = {"eager", "functionalized anew in each step", start<Eager>};

}  // namespace examples::diffusion
