// SPDX-License-Identifier: BSL-1.0
// The step as an operator of the program's own, which writes its grid: on the host it is the program of the step, and
// on the device one shader. Functionalized as any other operator is.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/registry.hpp>
#include <memory>
#include <utility>

#include "form.hpp"
#include "fused.hpp"
#include "simulation.hpp"
#include "vulkan/backend/graph.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace examples::diffusion {
namespace {

using byre::Scalar;
using byre::Tensor;
using namespace byre::functional;
using vulkan::VulkanGraph;
using vulkan::VulkanTensor;

Plan plan_of(bool periodic, const Scalar& feed, const Scalar& kill) {
  return {.size = 0,
          .steps = 1,
          .periodic = periodic,
          .seed = 0,
          .feed = feed.as<double>(),
          .kill = kill.as<double>()};
}

void step_on_host(Tensor& grid, bool periodic, const Scalar& feed, const Scalar& kill) {
  step_program(plan_of(periodic, feed, kill))({from_cpu(grid)});
}

AnyTensor step_on_device(const AnyTensor& grid, bool periodic, const Scalar& feed,
                         const Scalar& kill) {
  static const FusedStep fused;
  const Tensor now = grid.as<VulkanTensor>()->tensor();
  Tensor after = Tensor::empty(now.sizes(), now.dtype(), now.device());
  fused.record(after, now, periodic, Rates(plan_of(periodic, feed, kill)));
  return vulkan::to_vulkan(after);
}

/// Once, before the operator is called.
bool define_step() {
  const Key device = vulkan::vulkan_backend();
  define("diffuse(Tensor grid, bool periodic, Scalar feed, Scalar kill) -> Tensor")
      .cpu([](const Tensor& grid, bool periodic, const Scalar& feed, const Scalar& kill) {
        Tensor after = grid.lazy_clone();
        step_on_host(after, periodic, feed, kill);
        return after;
      })
      .kernel(device, boxed(step_on_device))
      .meta([](const Call& call) {
        const AnyTensor& grid = call.arguments[0].tensor();
        return std::vector<TensorMeta>{{grid.sizes(), grid.dtype()}};
      });
  define("diffuse_(Tensor(a!) grid, bool periodic, Scalar feed, Scalar kill) -> Tensor(a!)")
      .cpu(step_on_host);
  return true;
}

class OwnOperator final : public Form {
 public:
  OwnOperator(const Plan& plan, const Tensor& grid)
      : graph_(captured(plan, grid)), grid_(vulkan::to_vulkan(grid)) {}

  void step() override {
    Tensors inputs;
    inputs.push_back(std::move(grid_));
    grid_ = std::move(graph_.run(std::move(inputs)).front());
  }
  Tensor snapshot() const override { return grid_.as<VulkanTensor>()->tensor(); }

 private:
  static Graph captured(const Plan& plan, const Tensor& grid) {
    static const bool is_defined = define_step();
    static_cast<void>(is_defined);
    const Program step = [&plan](const Tensors& inputs) {
      call("diffuse_", {inputs[0], plan.periodic, plan.feed, plan.kill});
      return Tensors{};
    };
    return capture(step, {from_cpu(grid)}).graph;
  }

  VulkanGraph graph_;
  AnyTensor grid_;
};

}  // namespace

const FormKind own_operator_form = {
    "own operator",
    "functionalized once; all of the step is an operator of one's own, and one shader",
    [](const Plan& plan, const Tensor& grid) -> std::unique_ptr<Form> {
      return std::make_unique<OwnOperator>(plan, grid);
    }};

}  // namespace examples::diffusion
