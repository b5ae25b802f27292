// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/text.hpp>

#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

using detail::operation_of;

std::string name_of_value(ValueId value) {
  return std::string("%").append(std::to_string(value.number));
}

/// Joins `text_of(item)` of each item with commas.
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

/// Returns, for example, "%2: f32[], %3: i64[2]", numbered from `next`, which is advanced.
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

}  // namespace byre::inline BYRE_ABI::functional
