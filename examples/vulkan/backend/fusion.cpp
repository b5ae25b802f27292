// SPDX-License-Identifier: BSL-1.0
/// Which operations of a graph are computed together. A group takes all that it can from its first operation on; what
/// it cannot is left behind it, with all that needs that.
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "vulkan/backend/fused.hpp"

namespace examples::vulkan {

namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Layout;
using byre::Scalar;

std::optional<FusedOperation> fused_operation(const std::string& name) {
  const std::string base = name.substr(0, name.find('.'));
  return base == "add"    ? std::optional(FusedOperation::add)
         : base == "sub"  ? std::optional(FusedOperation::subtract)
         : base == "mul"  ? std::optional(FusedOperation::multiply)
         : base == "div"  ? std::optional(FusedOperation::divide)
         : base == "neg"  ? std::optional(FusedOperation::negate)
         : base == "relu" ? std::optional(FusedOperation::rectify)
         : base == "exp"  ? std::optional(FusedOperation::exponentiate)
                          : std::nullopt;
}

/// The view that an operator copies, or null.
const Operator* viewed_by(const std::string& name) {
  for (const char* const view :
       {"permute", "expand", "select", "slice", "diagonal", "as_strided"}) {
    if (name == std::string(view) + "_copy") {
      return &find(view);
    }
  }
  return nullptr;
}

/// A group that grows node by node, or stays as it was.
class Grouping {
 public:
  Grouping(const Graph& graph, const std::vector<TensorMeta>& metas)
      : graph_(graph), metas_(metas) {}

  const Fused& group() const { return group_; }
  std::size_t operations() const { return operations_; }

  /// Whether the node, whose result has that number, is one of the group now.
  bool take(std::size_t index, ValueId result) {
    const GraphNode& node = graph_.nodes[index];
    const TensorMeta& meta = node.results.front();
    if (node.results.size() != 1 || meta.dtype != DType::f32 ||
        (!group_.nodes.empty() && meta.sizes != group_.sizes) ||
        std::find(meta.sizes.begin(), meta.sizes.end(), 0) != meta.sizes.end()) {
      return false;
    }
    const Fused before = group_;
    const auto slots_before = slot_of_;
    group_.sizes = meta.sizes;
    const std::optional<std::uint32_t> slot = computed(node);
    if (!slot || !fits()) {
      group_ = before;
      slot_of_ = slots_before;
      return false;
    }
    slot_of_.emplace_back(result, *slot);
    group_.nodes.push_back(index);
    return true;
  }

  void add_output(ValueId output) {
    const auto number = static_cast<std::uint32_t>(group_.outputs.size());
    group_.outputs.push_back(output);
    const auto store = static_cast<FusedOperation>(
        static_cast<std::uint32_t>(FusedOperation::store_first) + number);
    // Results stand behind what is read.
    group_.slots.push_back(
        {store, *slot_of(output), static_cast<std::uint32_t>(group_.places.size())});
  }

 private:
  bool fits() const {
    return group_.slots.size() + Fused::most_outputs <= Fused::most_slots &&
           group_.inputs.size() <= Fused::most_inputs && group_.numbers.size() <= 32 &&
           fits_three_dimensions(group_.sizes, group_.places);
  }

  std::optional<std::uint32_t> slot_of(ValueId value) const {
    for (const auto& [made, slot] : slot_of_) {
      if (made == value) {
        return slot;
      }
    }
    return std::nullopt;
  }

  std::uint32_t add_slot(FusedOperation operation, std::uint32_t left, std::uint32_t right) {
    group_.slots.push_back({operation, left, right});
    return static_cast<std::uint32_t>(group_.slots.size() - 1);
  }

  /// What a layout sees of a value that is in memory.
  std::uint32_t loaded(ValueId value, std::int64_t offset, Dims strides) {
    auto input = std::find(group_.inputs.begin(), group_.inputs.end(), value);
    if (input == group_.inputs.end()) {
      input = group_.inputs.insert(input, value);
    }
    const auto number = static_cast<std::uint32_t>(input - group_.inputs.begin());
    FusedPlace place{number, offset, std::move(strides)};
    const auto operation = static_cast<FusedOperation>(
        static_cast<std::uint32_t>(FusedOperation::load_a) + std::min<std::uint32_t>(number, 3));
    for (std::uint32_t slot = 0; slot < group_.slots.size(); ++slot) {
      const Fused::Slot& other = group_.slots[slot];
      if (other.operation == operation && group_.places[other.left] == place) {
        return slot;
      }
    }
    group_.places.push_back(std::move(place));
    return add_slot(operation, static_cast<std::uint32_t>(group_.places.size() - 1), 0);
  }

  std::optional<std::uint32_t> operand(const BasicArgument<ValueId>& argument) {
    if (const auto* const number = std::get_if<Scalar>(&argument)) {
      if (number->dtype_beside(DType::f32) != DType::f32) {
        return std::nullopt;
      }
      group_.numbers.push_back(number->to_tensor(DType::f32).at<float>({}));
      return add_slot(FusedOperation::load_number,
                      static_cast<std::uint32_t>(group_.numbers.size() - 1), 0);
    }
    const auto* const value = std::get_if<ValueId>(&argument);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (const auto slot = slot_of(*value)) {
      return slot;
    }
    const TensorMeta& meta = metas_[value->number];
    if (meta.dtype != DType::f32) {
      return std::nullopt;
    }
    Dims strides(group_.sizes.size());
    const std::size_t in_front = group_.sizes.size() - meta.sizes.size();
    std::int64_t stride = 1;
    for (std::size_t axis = meta.sizes.size(); axis-- != 0;) {
      strides[in_front + axis] = meta.sizes[axis] == 1 ? 0 : stride;
      stride *= meta.sizes[axis];
    }
    return loaded(*value, 0, std::move(strides));
  }

  std::optional<std::uint32_t> copied(const GraphNode& node, const Operator& view) {
    const auto* const value = std::get_if<ValueId>(&node.arguments[0]);
    const TensorMeta& meta = metas_[value->number];
    if (slot_of(*value) || meta.dtype != DType::f32) {
      return std::nullopt;  // which has to be in memory
    }
    Arguments given;
    for (std::size_t index = 1; index < node.arguments.size(); ++index) {
      std::visit(
          [&given](const auto& held) {
            using Held = std::decay_t<decltype(held)>;
            if constexpr (!std::is_same_v<Held, ValueId> &&
                          !std::is_same_v<Held, std::vector<ValueId>>) {
              given.emplace_back(held);
            }
          },
          node.arguments[index]);
    }
    const Layout seen =
        (*view.view())(byre::ViewGeometry::of_all(meta.sizes, meta.dtype), given).front().layout;
    return loaded(*value, seen.offset, seen.strides);
  }

  std::optional<std::uint32_t> computed(const GraphNode& node) {
    if (const Operator* const view = viewed_by(node.op->name())) {
      return copied(node, *view);
    }
    const auto operation = fused_operation(node.op->name());
    if (!operation) {
      return std::nullopt;
    }
    const auto left = operand(node.arguments[0]);
    const auto right = node.arguments.size() > 1 ? operand(node.arguments[1]) : left;
    if (!left || !right) {
      return std::nullopt;
    }
    ++operations_;
    return add_slot(*operation, *left, *right);
  }

  const Graph& graph_;
  const std::vector<TensorMeta>& metas_;
  Fused group_;
  std::vector<std::pair<ValueId, std::uint32_t>> slot_of_;
  std::size_t operations_ = 0;
};

std::vector<ValueId> operands_of(const GraphNode& node) {
  std::vector<ValueId> all;
  byre::functional::detail::for_each_operand(node, [&all](ValueId value) { all.push_back(value); });
  return all;
}

/// The results of the group's nodes that others need, or the graph's outputs are.
std::vector<ValueId> needed_outside(const Graph& graph, const std::vector<std::size_t>& nodes,
                                    const std::vector<std::uint32_t>& first_values) {
  std::set<ValueId> needed(graph.outputs.begin(), graph.outputs.end());
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    if (!std::binary_search(nodes.begin(), nodes.end(), index)) {
      for (const ValueId operand : operands_of(graph.nodes[index])) {
        needed.insert(operand);
      }
    }
  }
  std::vector<ValueId> results;
  for (const std::size_t node : nodes) {
    if (needed.contains({first_values[node]})) {
      results.push_back({first_values[node]});
    }
  }
  return results;
}

}  // namespace

std::vector<Fused> fused_groups(const Graph& graph,
                                const std::vector<std::uint32_t>& first_values) {
  std::vector<TensorMeta> metas;
  for (const GraphInput& input : graph.inputs) {
    metas.push_back(input.meta);
  }
  for (const GraphNode& node : graph.nodes) {
    metas.insert(metas.end(), node.results.begin(), node.results.end());
  }
  std::vector<Fused> groups;
  std::vector<bool> is_taken(graph.nodes.size());
  for (std::size_t first = 0; first < graph.nodes.size(); ++first) {
    // The longest group from here on whose results are few enough.
    std::size_t most_nodes = graph.nodes.size();
    while (!is_taken[first] && most_nodes > 1) {
      Grouping grouping(graph, metas);
      std::set<ValueId> later;  // values that are made behind the group
      for (std::size_t index = first;
           index < graph.nodes.size() && grouping.group().nodes.size() < most_nodes; ++index) {
        const GraphNode& node = graph.nodes[index];
        if (node.is_constant() || is_taken[index]) {
          continue;  // which are there before: constants, and what groups before this one made
        }
        const std::vector<ValueId> operands = operands_of(node);
        const bool waits = std::any_of(operands.begin(), operands.end(),
                                       [&](ValueId operand) { return later.contains(operand); });
        if (waits || !grouping.take(index, {first_values[index]})) {
          if (index == first) {
            break;
          }
          for (std::size_t result = 0; result < node.results.size(); ++result) {
            later.insert({first_values[index] + static_cast<std::uint32_t>(result)});
          }
        }
      }
      if (grouping.group().nodes.size() < 2 || grouping.operations() == 0) {
        break;
      }
      const std::vector<ValueId> outputs =
          needed_outside(graph, grouping.group().nodes, first_values);
      if (outputs.size() > Fused::most_outputs || outputs.empty()) {
        most_nodes = grouping.group().nodes.size() - 1;
        continue;
      }
      for (const ValueId output : outputs) {
        grouping.add_output(output);
      }
      for (const std::size_t node : grouping.group().nodes) {
        is_taken[node] = true;
      }
      groups.push_back(grouping.group());
      break;
    }
  }
  return groups;
}

}  // namespace examples::vulkan
