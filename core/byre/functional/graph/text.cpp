// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/text.hpp>

#include <new>

namespace byre::inline v0::functional {
namespace {

using detail::operation_of;

std::string name_of_value(ValueId value) {
  return std::string("%").append(std::to_string(value.number));
}

/// Commas between what `text_of` says of each.
template <class Range, class TextOf>
std::string listed(const Range& range, const TextOf& text_of) {
  std::string text;
  for (const auto& each : range) {
    text += (text.empty() ? "" : ", ") + text_of(each);
  }
  return text;
}

struct ArgumentText {
  std::string operator()(ValueId value) const { return name_of_value(value); }
  std::string operator()(const std::vector<ValueId>& values) const {
    return std::string("[").append(listed(values, name_of_value)).append("]");
  }
  template <class Held>
  std::string operator()(const Held& held) const {
    return to_string(Constant(held));
  }
};

/// "%2: f32[], %3: i64[2]", from the number `next` on, which goes on behind them.
std::string results_of(const GraphNode& node, std::uint32_t& next) {
  return listed(node.results, [&next](const TensorMeta& meta) {
    return name_of_value({next++}) + ": " + detail::to_string(meta);
  });
}

std::string text_of_input(const GraphInput& input, std::uint32_t number) {
  return name_of_value({number}) + (input.name.empty() ? "" : " " + input.name) + ": " +
         detail::to_string(input.meta);
}

}  // namespace

std::string detail::to_string(const TensorMeta& meta) {
  return byre::name_of(meta.dtype) + byre::to_string(meta.sizes);
}

std::string detail::operation_of(const GraphNode& node) {
  if (node.is_constant()) {
    return "constant";
  }
  return node.op->name() + "(" +
         listed(node.arguments,
                [](const auto& argument) { return std::visit(ArgumentText(), argument); }) +
         ")";
}

std::string to_string(const Graph& graph) try {
  std::uint32_t next = 0;
  std::string text =
      "graph(" +
      listed(graph.inputs,
             [&next](const GraphInput& input) { return text_of_input(input, next++); }) +
      "):\n";
  for (const GraphNode& node : graph.nodes) {
    text += "  " + results_of(node, next) + " = " + operation_of(node) + "\n";
  }
  const std::string outputs = listed(graph.outputs, name_of_value);
  return text + "  return" + (outputs.empty() ? "" : " " + outputs) + "\n";
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

std::string to_dot(const Graph& graph) try {
  detail::expect_well_formed(graph, "to_dot");
  std::string text = "digraph {\n  node [shape=box];\n";
  std::vector<std::string> makers;  // of each value
  const auto add = [&](const std::string& name, const std::string& label) {
    text += "  " + name + " [label=\"" + label + "\"];\n";
  };
  const auto connect = [&](ValueId value, const std::string& to) {
    text += "  " + makers.at(value.number) + " -> " + to + " [label=\"" + name_of_value(value) +
            "\"];\n";
  };
  std::uint32_t next = 0;
  for (const GraphInput& input : graph.inputs) {
    makers.push_back("input" + std::to_string(next));
    add(makers.back(), text_of_input(input, next++));
  }
  for (const GraphNode& node : graph.nodes) {
    const std::string name = "value" + std::to_string(next);
    add(name, operation_of(node) + "\\n" + results_of(node, next));
    makers.resize(next, name);
    detail::for_each_operand(node, [&](ValueId operand) { connect(operand, name); });
  }
  add("outputs", "return");
  for (const ValueId output : graph.outputs) {
    connect(output, "outputs");
  }
  return text + "}\n";
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_dot");
}

}  // namespace byre::inline v0::functional
