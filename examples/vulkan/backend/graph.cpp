// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/graph.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/text.hpp>
#include <utility>

#include "vulkan/backend/forwarding.hpp"
#include "vulkan/backend/fused.hpp"
#include "vulkan/backend/kernels.hpp"
#include "vulkan/device/gpu.hpp"

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

template <class Count>
void for_each_use(const GraphNode& node, const Count& count) {
  byre::functional::detail::for_each_operand(node, count);
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
    for (const auto& [value, tensor] : graph.constants_) {
      keep(value, tensor);
    }
  }

  Tensors run() {
    const auto& nodes = graph_.graph_.nodes;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      if (const Fused* const fused = graph_.begun_at_[index]) {
        compute(*fused);
      } else if (!graph_.is_fused_[index] && !nodes[index].is_constant()) {
        compute(nodes[index], graph_.first_values_[index]);
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

  void compute(const GraphNode& node, std::uint32_t result) {
    Arguments arguments;
    arguments.reserve(node.arguments.size());
    for (const BasicArgument<ValueId>& argument : node.arguments) {
      arguments.push_back(
          std::visit([this](const auto& held) { return argument_of(held); }, argument));
    }
    for (AnyTensor& made : dispatch(*node.op, arguments)) {
      keep({result++}, std::move(made));
    }
  }

  void compute(const Fused& fused) {
    std::vector<VulkanTensor*> inputs;
    Tensors held;
    for (const ValueId input : fused.inputs) {
      held.push_back(values_[input.number]);
      inputs.push_back(held.back().as<VulkanTensor>());
    }
    for (const std::size_t node : fused.nodes) {
      for_each_use(graph_.graph_.nodes[node], [this](ValueId used) {
        if (--uses_[used.number] == 0) {
          values_[used.number] = AnyTensor();
        }
      });
    }
    Tensors outputs;
    std::vector<VulkanTensor*> written;
    std::vector<bool> is_taken(inputs.size());
    for (std::size_t output = 0; output < fused.outputs.size(); ++output) {
      outputs.push_back(result_of(fused, held, is_taken));
      written.push_back(outputs.back().as<VulkanTensor>());
    }
    examples::vulkan::run(fused, written, inputs);
    for (std::size_t output = 0; output < fused.outputs.size(); ++output) {
      keep(fused.outputs[output], std::move(outputs[output]));
    }
  }

  /// An input that dies here and is read in the order in which the result is written, or a new tensor.
  static AnyTensor result_of(const Fused& fused, const Tensors& inputs,
                             std::vector<bool>& is_taken) {
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      auto& tensor = *inputs[input].as<VulkanTensor>();
      if (!is_taken[input] && inputs[input].handle_count() == 1 && tensor.dims() == fused.sizes &&
          tensor.storage().handle_count() == 1 && tensor.storage().is_unique() &&
          reads_in_order(fused, input)) {
        is_taken[input] = true;
        return inputs[input];
      }
    }
    return made_on_device(fused.sizes, byre::DType::f32);
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

VulkanGraph::VulkanGraph(Graph graph, Fusion fusion) : graph_(std::move(graph)) {
  vulkan_backend();
  if (!is_functional(graph_)) {
    throw GraphError(byre::format_text(
        "VulkanGraph: the graph makes views or writes, and the Vulkan backend has pure operators "
        "alone. capture() the program under functionalize, which removes both."));
  }
  if (fusion == Fusion::on) {
    forward_copies(graph_);
  }
  uses_.resize(graph_.value_count());
  const auto count = [this](ValueId used) { ++uses_.at(used.number); };
  auto next = static_cast<std::uint32_t>(graph_.inputs.size());
  for (const GraphNode& node : graph_.nodes) {
    for_each_use(node, count);
    first_values_.push_back(next);
    if (node.is_constant()) {
      constants_.emplace_back(ValueId{next}, to_vulkan(node.constant));
    }
    next += static_cast<std::uint32_t>(node.results.size());
  }
  for (const ValueId output : graph_.outputs) {
    count(output);
  }
  is_fused_.resize(graph_.nodes.size());
  begun_at_.resize(graph_.nodes.size());
  if (fusion == Fusion::on) {
    groups_ = fused_groups(graph_, first_values_);
  }
  for (const Fused& group : groups_) {
    begun_at_[group.nodes.front()] = &group;
    for (const std::size_t node : group.nodes) {
      is_fused_[node] = true;
    }
  }
}

VulkanGraph::~VulkanGraph() = default;

std::size_t VulkanGraph::fused_count() const noexcept {
  return groups_.size();
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
  const ExcludeKeys all_else(thread_keys().included.without(VulkanTensor::key) |
                             Key::functionalize);
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
