// SPDX-License-Identifier: BSL-1.0
/// Recording: records calls of operators on tensors of the graph backend as a graph, without
/// computing elements. For example:
///
///   const Recording recording;
///   const AnyTensor x = recording.input({2}, DType::f32, "x");
///   const AnyTensor y = call_for_one("add", {x, x});
///   const Graph graph = recording.capture({y});
///
/// Tensors of the CPU among the arguments become constants.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/detail/tape.hpp>
#include <byre/functional/graph/graph.hpp>
#include <byre/sync/counted_ptr.hpp>

#include <cstddef>
#include <string>

namespace byre::inline BYRE_ABI::functional {

/// A handle: a copy refers to the same recording. Thread-safe: threads may record concurrently.
/// Unless a member says otherwise: Throws OutOfMemory. Cost: O(1) per tensor.
class BYRE_API Recording {
 public:
  /// Whether view operators are recorded. A recorded view sees the elements of its operand in
  /// row-major order, regardless of the strides that the operand has when the graph is executed.
  /// Writes are always rejected.
  enum class Views : bool { refused, recorded };

  explicit Recording(Views views = Views::refused);
  /// Returns the recording of a tensor. Throws DeviceError if the tensor belongs to another backend
  /// or is empty.
  static Recording of(const AnyTensor& tensor);
  /// Returns the recording of this thread's innermost RecordingScope. Throws GraphError if no scope
  /// is active.
  static Recording current();

  /// Adds an input and returns its tensor. Throws InvalidArgument if `name` is neither empty nor an
  /// identifier, ShapeError if `sizes` are invalid, or DTypeError if `dtype` is uninitialized.
  AnyTensor input(const Dims& sizes, DType dtype, std::string name = {}) const;
  /// Adds a constant with the current elements of `tensor`, as a lazy clone. Throws DTypeError if
  /// the tensor has no dtype yet, StateError if it has no memory yet, or ArgumentError if the
  /// handle is empty.
  AnyTensor constant(const Tensor& tensor) const;
  /// Adds a call and returns its results. Throws GraphError if a tensor among the arguments belongs
  /// neither to this recording nor to the CPU, if the operator writes, or if the operator makes a
  /// view and this recording refuses views. Also throws the errors of meta_of_results().
  Tensors record(const Call& call) const;

  /// Returns the graph of all living nodes, including those that no output needs. A node lives as
  /// long as a tensor or a later node refers to it. Outputs of the CPU become constants. Throws
  /// GraphError if an output belongs neither to this recording nor to the CPU. Cost: O(nodes).
  Graph capture(const Tensors& outputs) const;
  /// Returns the number of inputs, constants and operations that are alive. Cost: O(1).
  std::size_t node_count() const noexcept;

  friend bool operator==(const Recording&, const Recording&) noexcept = default;

 private:
  explicit Recording(CountedPtr<detail::Tape> tape) noexcept;

  CountedPtr<detail::Tape> tape_;
};

/// Records the calls of this thread as long as the scope lives, including calls without tensors,
/// such as zeros(). Scopes nest; each must be destroyed on its thread. Throws nothing.
class BYRE_API RecordingScope {
 public:
  explicit RecordingScope(Recording recording) noexcept;
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  ~RecordingScope();

 private:
  const Recording recording_;
  const Recording* const before_;
  const IncludeKeys on_graph_{Key::graph};
};

}  // namespace byre::inline BYRE_ABI::functional
