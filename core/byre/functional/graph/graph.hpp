// SPDX-License-Identifier: BSL-1.0
/// Graph: a program of pure operations in single-assignment form: every value is made once, before
/// it is used, and never changes.
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

/// What cannot be recorded, captured or executed.
class BYRE_API GraphError : public Error {
 public:
  using Error::Error;
};

/// One operation, or a constant, whose tensors are named by a TensorRef: see BasicArgument.
template <class TensorRef>
struct BasicNode {
  const Operator* op = nullptr;  ///< null: a constant
  std::vector<BasicArgument<TensorRef>> arguments;
  Tensor constant;
  std::vector<TensorMeta> results;  ///< at least one

  bool is_constant() const noexcept { return op == nullptr; }
};

/// The number of a value: inputs are counted first, then the results of each node in turn.
struct ValueId {
  std::uint32_t number = 0;

  friend auto operator<=>(ValueId, ValueId) = default;
};

using GraphNode = BasicNode<ValueId>;

struct GraphInput {
  TensorMeta meta;
  std::string name;  ///< an identifier, or empty
};

/// A value, made by Recording::capture(). The data of its constants are never written. Thread-safety: as of
/// a standard container. What executes or simplifies one throws GraphError where a value is used that
/// is not made before, where an operation has more or fewer arguments than its operator takes, where an operator
/// writes its arguments, and where a constant is not the one tensor that its result says.
struct BYRE_API Graph {
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;  ///< each behind those whose results it takes
  std::vector<ValueId> outputs;

  std::uint32_t value_count() const noexcept;
};

/// Whether nothing in it writes, or makes a view: so of every graph of a program that was
/// functionalized.
BYRE_API bool is_functional(const Graph& graph) noexcept;

/// Drops the nodes that no output needs; inputs stay. Returns how many.
BYRE_API std::size_t eliminate_dead_code(Graph& graph);

/// Drops the nodes that compute what one before them does: the same operator with exactly the same
/// arguments; constants that share their data. Returns how many.
BYRE_API std::size_t eliminate_common_subexpressions(Graph& graph);

/// Computes the outputs on the backend of the inputs, which are as the graph's inputs say; inputs of the CPU may
/// stand beside those of another. Constants are tensors of the CPU, which the backend's kernels are given as they
/// are. Outputs share their contents with nothing, but lazily. A value lives until its last use, which hands it over
/// to the kernel. Throws ArgumentError for other inputs, DeviceError for inputs of several backends or of none that
/// computes, and whatever a kernel throws, std::bad_alloc as OutOfMemory. Thread-safe.
BYRE_API Tensors execute(const Graph& graph, const Tensors& inputs);

namespace detail {

/// The backend that computes with these: the CPU's, or the one that some are of. Throws DeviceError, which names
/// `operation`, for tensors of several, and of passes and graphs.
Key backend_of(const Tensors& tensors, const char* operation);

/// Throws GraphError, which names `operation`, for what no recording makes: see Graph.
void expect_well_formed(const Graph& graph, const char* operation);

/// The same argument with other names for tensors: what `renamed` makes of each.
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
