// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/graph.hpp"

#include <algorithm>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/text.hpp>
#include <utility>

#include "vulkan/backend/kernels.hpp"
#include "vulkan/device/gpu.hpp"
#include "vulkan/fusion/run.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;

void expect_as_recorded(const GraphInput& input, const AnyTensor& given, std::size_t index) {
  if (!given || TensorMeta{given.sizes(), given.dtype()} != input.meta) {
    throw ArgumentError(byre::format_text(
        "VulkanGraph: input %zu%s%s is of %s%s, and was given %s. Record the program with the "
        "sizes "
        "and dtypes it is to be executed with.",
        index, input.name.empty() ? "" : " ", input.name.c_str(), name_of(input.meta.dtype),
        byre::to_string(input.meta.sizes).c_str(), describe(given).c_str()));
  }
}

}  // namespace

/// The values that are still to be used.
class VulkanGraph::Execution {
 public:
  Execution(const VulkanGraph& graph, Tensors inputs)
      : graph_(graph), uses_(graph.uses_), values_(uses_.size()) {
    for (std::uint32_t index = 0; index < inputs.size(); ++index) {
      AnyTensor& input = inputs[index];
      keep({index},
           input.as<VulkanTensor>() != nullptr ? std::move(input) : to_vulkan(to_cpu(input)));
    }
  }

  Tensors run() {
    for (const Step& step : graph_.steps_) {
      if (const auto* const node = std::get_if<std::size_t>(&step)) {
        compute(*node);
      } else {
        compute(std::get<FusedKernel>(step));
      }
    }
    Tensors outputs;
    for (const ValueId output : graph_.graph_.outputs) {
      AnyTensor value = use(output);
      // One that somebody else has too, as an input or another output, is shared lazily.
      outputs.push_back(value.handle_count() == 1 ? std::move(value)
                                                  : lazy_clone(*value.as<VulkanTensor>()));
    }
    return outputs;
  }

 private:
  /// What is never used is dropped at once.
  void keep(ValueId id, AnyTensor value) {
    if (uses_[id.number] != 0) {
      values_[id.number] = std::move(value);
    }
  }

  /// The last use takes the value over, so that a kernel may write it in place of a copy.
  AnyTensor use(ValueId id) {
    AnyTensor& value = values_[id.number];
    return --uses_[id.number] == 0 ? std::move(value) : value;
  }

  void compute(std::size_t number) {
    const GraphNode& node = graph_.graph_.nodes[number];
    const ValueId first = graph_.first_results_[number];
    if (node.is_constant()) {
      keep(first, graph_.constants_[number]);
      return;
    }
    Arguments arguments;
    arguments.reserve(node.arguments.size());
    for (const BasicArgument<ValueId>& argument : node.arguments) {
      arguments.push_back(
          std::visit([this](const auto& held) { return argument_of(held); }, argument));
    }
    Tensors results = dispatch(*node.op, arguments);
    for (std::uint32_t index = 0; index < results.size(); ++index) {
      keep({first.number + index}, std::move(results[index]));
    }
  }

  void compute(const FusedKernel& kernel) {
    Tensors inputs;
    inputs.reserve(kernel.inputs.size());
    for (const ValueId input : kernel.inputs) {
      inputs.push_back(use(input));
    }
    Tensors outputs = vulkan::run(kernel, std::move(inputs));
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      keep(kernel.outputs[index], std::move(outputs[index]));
    }
  }

  template <class Held>
  Argument argument_of(const Held& held) {
    if constexpr (std::is_same_v<Held, ValueId>) {
      return use(held);
    } else if constexpr (std::is_same_v<Held, std::vector<ValueId>>) {
      Tensors all;
      for (const ValueId each : held) {
        all.push_back(use(each));
      }
      return all;
    } else {
      return Argument(held);
    }
  }

  const VulkanGraph& graph_;
  std::vector<std::uint32_t> uses_;  // that are to come, of each value
  Tensors values_;
};

VulkanGraph::VulkanGraph(Graph graph, Fuse fuse) : graph_(std::move(graph)) {
  vulkan_backend();
  if (!is_functional(graph_)) {
    throw GraphError(byre::format_text(
        "VulkanGraph: the graph makes views or writes, and the Vulkan backend has pure operators "
        "alone. capture() the program under functionalize, which removes both."));
  }
  eliminate_dead_code(graph_);  // and refuses what no recording makes
  auto next = static_cast<std::uint32_t>(graph_.inputs.size());
  for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
    const GraphNode& node = graph_.nodes[number];
    first_results_.push_back({next});
    next += static_cast<std::uint32_t>(node.results.size());
    constants_.push_back(node.is_constant() ? to_vulkan(node.constant) : AnyTensor());
    if (fuse == Fuse::no) {
      steps_.emplace_back(number);
    }
  }
  if (fuse == Fuse::yes) {
    steps_ = plan_steps(graph_);
  }
  uses_.resize(next);
  const auto count = [this](ValueId used) { ++uses_.at(used.number); };
  for (const Step& step : steps_) {
    if (const auto* const number = std::get_if<std::size_t>(&step)) {
      byre::functional::detail::for_each_operand(graph_.nodes[*number], count);
    } else {
      std::ranges::for_each(std::get<FusedKernel>(step).inputs, count);
    }
  }
  std::ranges::for_each(graph_.outputs, count);
}

Tensors VulkanGraph::run(Tensors inputs) const {
  if (inputs.size() != graph_.inputs.size()) {
    throw ArgumentError(
        byre::format_text("VulkanGraph: the graph has %zu inputs, and was given %zu.",
                          graph_.inputs.size(), inputs.size()));
  }
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    expect_as_recorded(graph_.inputs[index], inputs[index], index);
  }
  const ExcludeKeys all_else(thread_keys().included.without(VulkanTensor::key));
  const IncludeKeys also_of_numbers(VulkanTensor::key);
  Queue::OneSubmission submission(Gpu::get().queue());
  Tensors outputs = Execution(*this, std::move(inputs)).run();
  submission.submit();
  return outputs;
}

Tensors execute_on_vulkan(const Graph& graph, const Tensors& inputs) {
  return VulkanGraph(graph).run(inputs);
}

}  // namespace examples::vulkan
