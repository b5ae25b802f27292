// SPDX-License-Identifier: BSL-1.0
// The graph as it is executed without lazy clones and without writing in place: a copy for every view, and for every
// write.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "form.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using namespace byre::functional;
using vulkan::VulkanTensor;

class Naive final : public Form {
 public:
  Naive(const Plan& plan, const Tensor& grid)
      : graph_(captured_step(plan).graph), grid_(vulkan::to_vulkan(grid)) {
    last_uses_.resize(graph_.value_count(), 0);
    for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
      byre::functional::detail::for_each_operand(
          graph_.nodes[index], [&](ValueId used) { last_uses_[used.number] = index; });
    }
    for (const ValueId output : graph_.outputs) {
      last_uses_[output.number] = graph_.nodes.size();
    }
  }

  void step() override {
    const ExcludeKeys all_else(thread_keys().included.without(VulkanTensor::key) |
                               Key::functionalize);
    Tensors values = {grid_};
    values.reserve(graph_.value_count());
    for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
      const GraphNode& node = graph_.nodes[index];
      Arguments arguments;
      for (const BasicArgument<ValueId>& argument : node.arguments) {
        arguments.emplace_back(argument_of(argument, values));
      }
      for (AnyTensor& result : dispatch(*node.op, arguments)) {
        result.as<VulkanTensor>()->storage().mutable_data();  // a copy, if it is a lazy clone
        values.push_back(std::move(result));
      }
      // Values are kept while their last user runs, so that it cannot write them in place.
      byre::functional::detail::for_each_operand(node, [&](ValueId used) {
        if (last_uses_[used.number] == index) {
          values[used.number] = AnyTensor();
        }
      });
    }
    grid_ = values[graph_.outputs.front().number];
  }

  Tensor snapshot() const override { return grid_.as<VulkanTensor>()->tensor(); }

 private:
  static Argument argument_of(const BasicArgument<ValueId>& argument, const Tensors& values) {
    const auto convert = [&values]<class Held>(const Held& held) -> Argument {
      if constexpr (std::is_same_v<Held, ValueId>) {
        return values[held.number];
      } else if constexpr (std::is_same_v<Held, std::vector<ValueId>>) {
        Tensors all;
        for (const ValueId each : held) {
          all.push_back(values[each.number]);
        }
        return all;
      } else {
        return Argument(held);
      }
    };
    return std::visit(convert, argument);
  }

  Graph graph_;
  std::vector<std::size_t> last_uses_;  ///< the node, for each value
  AnyTensor grid_;
};

}  // namespace

const FormKind naive_form = {"naive", "the graph with a copy for every view and every write",
                             [](const Plan& plan, const Tensor& grid) -> std::unique_ptr<Form> {
                               return std::make_unique<Naive>(plan, grid);
                             }};

}  // namespace examples::diffusion
