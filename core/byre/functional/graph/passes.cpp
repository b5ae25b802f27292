// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/graph.hpp>
#include <byre/functional/graph/text.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Rebuilds `graph` with renamed operands. If `replacement(index, node, next)` returns an empty
/// optional, the node remains and its results are numbered from `next` on. If `replacement` returns
/// a value, the node is removed: the value replaces the node's first result, and the values
/// numbered after it replace the other results. Returns the number of removed nodes.
template <class Replacement>
std::size_t rewrite(Graph& graph, const Replacement& replacement) {
  std::vector<ValueId> names;  // indexed by old number
  const auto add_names = [&names](ValueId first, std::size_t count) {
    for (; count != 0; --count) {
      names.push_back({first.number++});
    }
  };
  const auto rename = [&names](ValueId& value) { value = names.at(value.number); };
  ValueId next{static_cast<std::uint32_t>(graph.inputs.size())};
  add_names({0}, graph.inputs.size());
  std::vector<GraphNode> kept;
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    GraphNode node = graph.nodes[index];
    detail::for_each_operand(node, rename);
    const std::optional<ValueId> first = replacement(index, node, next);
    add_names(first.value_or(next), node.results.size());
    if (!first) {
      next.number += static_cast<std::uint32_t>(node.results.size());
      kept.push_back(std::move(node));
    }
  }
  std::ranges::for_each(graph.outputs, rename);
  const std::size_t removed = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  return removed;
}

/// Returns, for each node, whether an output depends on the node.
std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> is_needed(graph.value_count());
  for (const ValueId output : graph.outputs) {
    is_needed.at(output.number) = true;
  }
  std::vector<bool> needed(graph.nodes.size());
  auto end = is_needed.end();
  for (std::size_t index = graph.nodes.size(); index-- != 0;) {
    const GraphNode& node = graph.nodes[index];
    const auto begin = end - static_cast<std::ptrdiff_t>(node.results.size());
    needed[index] = std::find(begin, end, true) != end;
    end = begin;
    if (needed[index]) {
      detail::for_each_operand(
          node, [&is_needed](ValueId operand) { is_needed.at(operand.number) = true; });
    }
  }
  return needed;
}

/// Returns equal texts for nodes that compute the same values.
std::string identity_of(const GraphNode& node) {
  std::string text = detail::operation_of(node);
  if (node.is_constant()) {
    const Layout& layout = node.constant.layout();
    text += " of " + detail::to_string(node.results.front()) + " at " +
            std::to_string(reinterpret_cast<std::uintptr_t>(node.constant.storage().data())) +
            " from " + std::to_string(layout.offset) + " by " + byre::to_string(layout.strides);
  }
  return text;
}

void expect_constant(const GraphNode& node, const char* operation) {
  const Tensor& held = node.constant;
  if (!held || node.results.size() != 1 ||
      node.results.front() != TensorMeta{held.sizes(), held.dtype()}) {
    throw GraphError(format_text(
        "%s: a constant of the graph holds %s, result count %zu, first result %s. Give it one "
        "result of the tensor's dtype and sizes.",
        operation,
        held ? detail::to_string(TensorMeta{held.sizes(), held.dtype()}).c_str() : "no tensor",
        node.results.size(),
        node.results.empty() ? "none" : detail::to_string(node.results.front()).c_str()));
  }
}

void expect_arguments(const GraphNode& node, const char* operation) {
  const Schema& schema = node.op->schema();
  if (node.arguments.size() != schema.parameters.size()) {
    throw GraphError(
        format_text("%s: the graph passes %s %zu arguments, required %zu: %s. Pass all, including "
                    "those with defaults.",
                    operation, node.op->name().c_str(), node.arguments.size(),
                    schema.parameters.size(), to_string(schema).c_str()));
  }
  if (node.op->effect() == Effect::write) {
    throw GraphError(
        format_text("%s: %s writes its arguments, a graph requires pure operators: %s. Use its "
                    "functional variant, or capture() the program.",
                    operation, node.op->name().c_str(), to_string(schema).c_str()));
  }
}

}  // namespace

void detail::expect_well_formed(const Graph& graph, const char* operation) {
  std::size_t made = graph.inputs.size();
  const auto expect_made = [&](ValueId value) {
    if (value.number >= made) {
      throw GraphError(
          format_text("%s: the graph uses value %%%u when only %zu are computed. Put each node "
                      "after its operands.",
                      operation, value.number, made));
    }
  };
  for (const GraphNode& node : graph.nodes) {
    node.is_constant() ? expect_constant(node, operation) : expect_arguments(node, operation);
    detail::for_each_operand(node, expect_made);
    made += node.results.size();
  }
  std::ranges::for_each(graph.outputs, expect_made);
}

std::uint32_t Graph::value_count() const noexcept {
  std::size_t count = inputs.size();
  for (const GraphNode& node : nodes) {
    count += node.results.size();
  }
  return static_cast<std::uint32_t>(count);
}

bool is_functional(const Graph& graph) noexcept {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode& node) {
    return node.is_constant() || node.op->effect() == Effect::none;
  });
}

std::size_t eliminate_dead_code(Graph& graph) try {
  detail::expect_well_formed(graph, "eliminate_dead_code");
  const std::vector<bool> needed = needed_nodes(graph);
  return rewrite(graph, [&needed](std::size_t index, const GraphNode&, ValueId) {
    // Any value will do for an unneeded node: its results are unused.
    return needed[index] ? std::nullopt : std::optional(ValueId());
  });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("eliminate_dead_code");
}

std::size_t eliminate_common_subexpressions(Graph& graph) try {
  detail::expect_well_formed(graph, "eliminate_common_subexpressions");
  std::unordered_map<std::string, ValueId> first_results;
  return rewrite(graph, [&first_results](std::size_t, const GraphNode& node, ValueId next) {
    const auto [known, is_new] = first_results.emplace(identity_of(node), next);
    return is_new ? std::nullopt : std::optional(known->second);
  });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("eliminate_common_subexpressions");
}

}  // namespace byre::inline BYRE_ABI::functional
