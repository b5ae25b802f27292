// SPDX-License-Identifier: BSL-1.0
/// Graph: a program of pure operations in single-assignment form. Every value is computed once,
/// before its first use, and never changes.
///
/// Thread-safety: as of a standard container, unless a function says otherwise.
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

namespace byre::inline v0::functional {

/// An operation cannot be recorded or captured, or a graph cannot be executed.
class BYRE_API GraphError : public Error {
 public:
  using Error::Error;
};

/// One operation or a constant. Its tensors are named by a TensorRef: see BasicArgument.
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
/// Functions that execute or simplify a graph throw GraphError
///
/// - if it uses a value before the node that computes it;
/// - if the number of a node's arguments differs from its operator's parameters;
/// - if an operator writes its arguments;
/// - if a constant does not match its one result.
struct BYRE_API Graph {
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;  ///< each after the nodes whose results it takes
  std::vector<ValueId> outputs;

  std::uint32_t value_count() const noexcept;
};

/// Returns whether the graph has neither writes nor views, as has every graph of a functionalized
/// program. Cost: O(nodes).
BYRE_API bool is_functional(const Graph& graph) noexcept;

/// Removes the nodes that no output needs. Inputs stay. Returns the number of removed nodes. Throws
/// GraphError for a malformed graph; OutOfMemory. Cost: O(nodes).
BYRE_API std::size_t eliminate_dead_code(Graph& graph);

/// Removes each node that repeats an earlier one: the same operator with equal arguments, or a
/// constant with the same data. Returns the number of removed nodes. Throws GraphError for a
/// malformed graph; OutOfMemory. Cost: O(nodes), with a text per node.
BYRE_API std::size_t eliminate_common_subexpressions(Graph& graph);

/// Computes the outputs on the backend of the inputs. The inputs must have the sizes and dtypes of
/// the graph's inputs; inputs of the CPU may be mixed with those of one other backend. Constants
/// are tensors of the CPU and are passed unchanged to the backend's kernels.
///
/// Outputs share no contents except lazily. A value lives until its last use, which hands it over
/// to the kernel.
///
/// Throws ArgumentError if the number, sizes or dtypes of the inputs are wrong or one is empty;
/// DeviceError if the inputs belong to several backends, a pass or a graph; GraphError for a
/// malformed graph or for results other than recorded; and the errors of kernels, std::bad_alloc as
/// OutOfMemory. Thread-safe.
BYRE_API Tensors execute(const Graph& graph, const Tensors& inputs);

namespace detail {

/// Returns the backend that computes with these tensors: the CPU, or the other backend among them.
/// Throws DeviceError, which names `operation`, if there are several, or tensors of a pass or a
/// graph.
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
}  // namespace byre::inline v0::functional
