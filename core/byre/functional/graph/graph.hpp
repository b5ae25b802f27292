// SPDX-License-Identifier: BSL-1.0
/// Graph: a program of pure operations in single-assignment form. Every value is computed once,
/// before its first use, and never changes.
///
/// Thread-safety: that of a standard container, unless a function says otherwise.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/argument.hpp>
#include <byre/functional/dispatch/operator.hpp>
#include <byre/tensor/tensor.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// An operation cannot be recorded or captured, or a graph cannot be executed.
class BYRE_API GraphError : public Error {
 public:
  using Error::Error;
};

/// One operation or one constant. Its arguments refer to tensors by a TensorRef: see BasicArgument.
template <class TensorRef>
struct BasicNode {
  const Operator* op = nullptr;  ///< null if the node is a constant
  std::vector<BasicArgument<TensorRef>> arguments;
  Tensor constant;
  std::vector<TensorMeta> results;  ///< at least one

  bool is_constant() const noexcept { return op == nullptr; }
};

/// The number of a value. Inputs come first, then the results of each node in order.
struct ValueId {
  std::uint32_t number = 0;

  friend auto operator<=>(ValueId, ValueId) = default;
};

using GraphNode = BasicNode<ValueId>;

struct GraphInput {
  TensorMeta meta;
  std::string name;  ///< an identifier, or empty
};

/// A program, created by Recording::capture(). A copy shares only the data of constants, which are
/// never written.
///
/// A graph is malformed if one of these conditions holds:
///
/// - a node or an output uses a value before the node that computes it;
/// - the number of a node's arguments differs from the number of its operator's parameters;
/// - the operator of a node writes its arguments;
/// - a constant is empty, or does not have exactly one result with the sizes and dtype of the
///   constant.
///
/// Functions that execute or simplify a malformed graph throw GraphError.
struct BYRE_API Graph {
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;  ///< each after the nodes whose results it takes
  std::vector<ValueId> outputs;

  std::uint32_t value_count() const noexcept;
};

/// Returns whether the graph contains neither writes nor views. True for all graphs that capture()
/// returns without the option `reapply_views`. Cost: O(nodes).
BYRE_API bool is_functional(const Graph& graph) noexcept;

/// Removes the nodes that no output needs, but no inputs. Returns the number of removed nodes.
/// Throws GraphError if the graph is malformed, or OutOfMemory. Cost: O(nodes).
BYRE_API std::size_t eliminate_dead_code(Graph& graph);

/// Removes each node that repeats an earlier one: the same operator with equal arguments, or a
/// constant with the same data. Returns the number of removed nodes. Throws GraphError if the graph
/// is malformed, or OutOfMemory. Cost: O(nodes); formats each node as text.
BYRE_API std::size_t eliminate_common_subexpressions(Graph& graph);

/// Computes the outputs on the backend of the inputs. The inputs must have the sizes and dtypes of
/// the graph's inputs; inputs of the CPU may be mixed with those of one other backend. Constants
/// are tensors of the CPU and are passed unchanged to the backend's kernels.
///
/// Outputs share data only as lazy clones, so a write to one output is not visible in another. A
/// value lives until its last use. The kernel that uses it last may write it in place.
///
/// Throws ArgumentError if the number, sizes or dtypes of the inputs differ from those of the
/// graph, or if an input is empty; DeviceError if the inputs belong to several backends besides the
/// CPU, to a pass or to a graph; GraphError if the graph is malformed, or if results differ from
/// the recorded sizes and dtypes; or the exceptions of kernels. A std::bad_alloc becomes
/// OutOfMemory. Thread-safe.
BYRE_API Tensors execute(const Graph& graph, const Tensors& inputs);

namespace detail {

/// Returns the backend that computes with these tensors: the CPU, or the other backend among them.
/// Throws DeviceError, which names `operation`, if there are several other backends, or if a tensor
/// belongs to a pass or a graph.
Key backend_of(const Tensors& tensors, const char* operation);

/// Throws GraphError, which names `operation`, if the graph is malformed: see Graph.
void expect_well_formed(const Graph& graph, const char* operation);

/// Returns the argument with each tensor replaced by `renamed(tensor)`.
template <class To, class From, class Renamed>
BasicArgument<To> with_tensors(const BasicArgument<From>& argument, const Renamed& renamed) {
  const auto convert = [&renamed]<class Held>(const Held& held) -> BasicArgument<To> {
    if constexpr (std::same_as<Held, From>) {
      return renamed(held);
    } else if constexpr (std::same_as<Held, std::vector<From>>) {
      std::vector<To> all;
      all.reserve(held.size());
      for (const From& each : held) {
        all.push_back(renamed(each));
      }
      return all;
    } else {
      return held;
    }
  };
  return std::visit(convert, argument);
}

/// Calls `function` for each tensor of the arguments, in order.
template <class TensorRef, class Function>
void for_each_operand(BasicNode<TensorRef>& node, const Function& function) {
  for (BasicArgument<TensorRef>& argument : node.arguments) {
    detail::for_each_tensor_of<TensorRef>(argument, function);
  }
}
template <class TensorRef, class Function>
void for_each_operand(const BasicNode<TensorRef>& node, const Function& function) {
  for_each_operand(const_cast<BasicNode<TensorRef>&>(node),
                   [&function](const TensorRef& operand) { function(operand); });
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::functional
