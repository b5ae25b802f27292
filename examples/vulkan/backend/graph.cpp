// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/graph.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/text.hpp>
#include <utility>

#include "vulkan/backend/kernels.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;

void expect_as_recorded(const GraphInput& input, const AnyTensor& given, std::size_t index) {
  if (!given || TensorMeta{given.sizes(), given.dtype()} != input.meta) {
    throw ArgumentError(byre::format_text(
        "VulkanGraph: input %zu%s%s is of %s%s, and was given %s. Record the program with the sizes "
        "and dtypes it is to be executed with.",
        index, input.name.empty() ? "" : " ", input.name.c_str(), name_of(input.meta.dtype),
        byre::to_string(input.meta.sizes).c_str(), describe(given).c_str()));
  }
}

/// The values that are still to be used.
class Execution {
 public:
  Execution(const Graph& graph, const Tensors& constants, std::vector<std::uint32_t> uses,
            Tensors inputs)
      : graph_(graph), constants_(constants), uses_(std::move(uses)), values_(uses_.size()) {
    for (AnyTensor& input : inputs) {
      keep(input.as<VulkanTensor>() != nullptr ? std::move(input) : to_vulkan(to_cpu(input)));
    }
  }

  Tensors run() {
    std::size_t constant = 0;
    for (const GraphNode& node : graph_.nodes) {
      if (node.is_constant()) {
        keep(constants_[constant++]);
      } else {
        compute(node);
      }
    }
    Tensors outputs;
    for (const ValueId output : graph_.outputs) {
      AnyTensor value = use(output);
      // One that somebody else has too, as an input or another output, is shared lazily.
      outputs.push_back(value.handle_count() == 1 ? std::move(value)
                                                  : lazy_clone(*value.as<VulkanTensor>()));
    }
    return outputs;
  }

 private:
  /// What is never used is dropped at once.
  void keep(AnyTensor value) {
    if (uses_[next_] != 0) {
      values_[next_] = std::move(value);
    }
    ++next_;
  }

  /// The last use takes the value over, so that a kernel may write it in place of a copy.
  AnyTensor use(ValueId id) {
    AnyTensor& value = values_[id.number];
    return --uses_[id.number] == 0 ? std::move(value) : value;
  }

  void compute(const GraphNode& node) {
    Arguments arguments;
    arguments.reserve(node.arguments.size());
    for (const BasicArgument<ValueId>& argument : node.arguments) {
      arguments.push_back(std::visit([this](const auto& held) { return argument_of(held); }, argument));
    }
    for (AnyTensor& result : dispatch(*node.op, arguments)) {
      keep(std::move(result));
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

  const Graph& graph_;
  const Tensors& constants_;
  std::vector<std::uint32_t> uses_;  // that are to come, of each value
  Tensors values_;
  std::size_t next_ = 0;
};

template <class Count>
void count_uses(const GraphNode& node, const Count& count) {
  for (const BasicArgument<ValueId>& argument : node.arguments) {
    if (const auto* const one = std::get_if<ValueId>(&argument)) {
      count(*one);
    } else if (const auto* const several = std::get_if<std::vector<ValueId>>(&argument)) {
      for (const ValueId each : *several) {
        count(each);
      }
    }
  }
}

}  // namespace

VulkanGraph::VulkanGraph(Graph graph) : graph_(std::move(graph)), uses_(graph_.value_count()) {
  vulkan_backend();
  if (!is_functional(graph_)) {
    throw GraphError(byre::format_text(
        "VulkanGraph: the graph makes views or writes, and the Vulkan backend has pure operators "
        "alone. capture() the program under functionalize, which removes both."));
  }
  const auto count = [this](ValueId used) { ++uses_.at(used.number); };
  for (const GraphNode& node : graph_.nodes) {
    count_uses(node, count);
    if (node.is_constant()) {
      constants_.push_back(to_vulkan(node.constant));
    }
  }
  for (const ValueId output : graph_.outputs) {
    count(output);
  }
}

Tensors VulkanGraph::run(Tensors inputs) const {
  if (inputs.size() != graph_.inputs.size()) {
    throw ArgumentError(byre::format_text("VulkanGraph: the graph has %zu inputs, and was given %zu.",
                                          graph_.inputs.size(), inputs.size()));
  }
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    expect_as_recorded(graph_.inputs[index], inputs[index], index);
  }
  const ExcludeKeys all_else(thread_keys().included.without(VulkanTensor::key) | Key::functionalize);
  const IncludeKeys also_of_numbers(VulkanTensor::key);
  Queue::OneSubmission submission(Gpu::get().queue());
  Tensors outputs = Execution(graph_, constants_, uses_, std::move(inputs)).run();
  submission.submit();
  return outputs;
}

Tensors execute_on_vulkan(const Graph& graph, const Tensors& inputs) {
  return VulkanGraph(graph).run(inputs);
}

}  // namespace examples::vulkan
