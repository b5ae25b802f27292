// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/graph.hpp>
#include <byre/functional/graph/text.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

namespace byre::inline v0::functional {
namespace {

/// Makes a graph anew of some of its nodes, and knows what the values are called there.
class Rewriter {
 public:
  explicit Rewriter(const Graph& graph) : graph_{graph.inputs, {}, graph.outputs} {
    number(graph.inputs.size());
  }

  GraphNode renamed(GraphNode node) const {
    detail::for_each_operand(node, [this](ValueId& operand) { rename(operand); });
    return node;
  }
  /// A node that is renamed already.
  void keep(GraphNode node) {
    number(node.results.size());
    graph_.nodes.push_back(std::move(node));
  }
  /// The results of a node that is not kept are those of one that was, from `first` on.
  void replace(const GraphNode& node, ValueId first) {
    for (std::uint32_t index = 0; index < node.results.size(); ++index) {
      names_.push_back({first.number + index});
    }
  }
  /// What the first result of the next node that is kept will be called.
  ValueId next() const noexcept { return {next_}; }

  /// Returns how many nodes were not kept.
  std::size_t finish(Graph& graph) {
    for (ValueId& output : graph_.outputs) {
      rename(output);
    }
    const std::size_t removed = graph.nodes.size() - graph_.nodes.size();
    graph = std::move(graph_);
    return removed;
  }

 private:
  void rename(ValueId& value) const { value = names_.at(value.number); }
  void number(std::size_t count) {
    for (; count != 0; --count) {
      names_.push_back({next_++});
    }
  }

  Graph graph_;
  std::vector<ValueId> names_;  // by the numbers there were
  std::uint32_t next_ = 0;
};

/// Which nodes an output needs.
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

/// Equal for nodes that compute the same.
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
        "%s: a constant of the graph holds %s, and its %zu results say %s. Have one result of the "
        "tensor's dtype and sizes.",
        operation,
        held ? detail::to_string(TensorMeta{held.sizes(), held.dtype()}).c_str() : "no tensor",
        node.results.size(),
        node.results.empty() ? "nothing" : detail::to_string(node.results.front()).c_str()));
  }
}

void expect_arguments(const GraphNode& node, const char* operation) {
  const Schema& schema = node.op->schema();
  if (node.arguments.size() != schema.parameters.size()) {
    throw GraphError(
        format_text("%s: the graph gives %s %zu arguments, and it takes %zu: %s. Give all, also "
                    "those that have defaults.",
                    operation, node.op->name().c_str(), node.arguments.size(),
                    schema.parameters.size(), to_string(schema).c_str()));
  }
  if (node.op->effect() == Effect::write) {
    throw GraphError(
        format_text("%s: %s writes its arguments, and a graph has pure operators only: %s. Use the "
                    "operator that returns its result, or capture the program functionalized.",
                    operation, node.op->name().c_str(), to_string(schema).c_str()));
  }
}

}  // namespace

void detail::expect_well_formed(const Graph& graph, const char* operation) {
  std::size_t made = graph.inputs.size();
  const auto expect_made = [&](ValueId value) {
    if (value.number >= made) {
      throw GraphError(
          format_text("%s: the graph uses the value %%%u where %zu are made. Have each node behind "
                      "those whose results it takes.",
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
  Rewriter rewriter(graph);
  for (std::size_t index = 0; index < needed.size(); ++index) {
    if (needed[index]) {
      rewriter.keep(rewriter.renamed(graph.nodes[index]));
    } else {
      rewriter.replace(graph.nodes[index], {});  // nobody asks for its results
    }
  }
  return rewriter.finish(graph);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("eliminate_dead_code");
}

std::size_t eliminate_common_subexpressions(Graph& graph) try {
  detail::expect_well_formed(graph, "eliminate_common_subexpressions");
  Rewriter rewriter(graph);
  std::unordered_map<std::string, ValueId> first_results;
  for (const GraphNode& node : graph.nodes) {
    GraphNode renamed = rewriter.renamed(node);
    const auto [known, is_new] = first_results.emplace(identity_of(renamed), rewriter.next());
    if (is_new) {
      rewriter.keep(std::move(renamed));
    } else {
      rewriter.replace(node, known->second);
    }
  }
  return rewriter.finish(graph);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("eliminate_common_subexpressions");
}

}  // namespace byre::inline v0::functional
