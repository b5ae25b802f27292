// SPDX-License-Identifier: BSL-1.0
/// Recording: what operators do to tensors of the graph backend is written down and not computed.
///
///   const Recording recording;
///   const AnyTensor x = recording.input({2}, DType::f32, "x");
///   const AnyTensor y = call_for_one("add", {x, x});
///   const Graph graph = recording.capture({y});
///
/// Tensors of the CPU that operators are given beside those become constants.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/detail/tape.hpp>
#include <byre/functional/graph/graph.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <string>

namespace byre::inline v0::functional {

/// A handle: a copy is one to the same recording. Thread-safe: threads may record at once.
class BYRE_API Recording {
 public:
  /// Whether operators that make views are recorded, as what a view sees, in order; those that
  /// write never are.
  enum class Views : bool { refused, recorded };

  explicit Recording(Views views = Views::refused);
  /// The one of a tensor. Throws DeviceError for a tensor of another backend.
  static Recording of(const AnyTensor& tensor);
  /// The one of the innermost RecordingScope of this thread. Throws GraphError if there is none.
  static Recording current();

  /// One more input. The name is an identifier, or empty. Throws InvalidArgument, ShapeError,
  /// DTypeError.
  AnyTensor input(const Dims& sizes, DType dtype, std::string name = {}) const;
  /// What `tensor` is now. Throws StateError, as operations do, for one that is uninitialized;
  /// ArgumentError for a handle without a tensor.
  AnyTensor constant(const Tensor& tensor) const;
  /// The call of an operator, whose tensors are of this recording, or of the CPU. Throws GraphError
  /// for others, and for an operator that writes or makes a view; and what meta_of_results()
  /// throws.
  Tensors record(const Call& call) const;

  /// All that is alive, also what no output needs. Tensors of the CPU become constants. Throws
  /// GraphError for tensors of another recording.
  Graph capture(const Tensors& outputs) const;
  /// How many inputs, constants and operations are alive.
  std::size_t node_count() const noexcept;

  friend bool operator==(const Recording&, const Recording&) noexcept = default;

 private:
  explicit Recording(boost::intrusive_ptr<detail::Tape> tape) noexcept;

  boost::intrusive_ptr<detail::Tape> tape_;
};

/// What this thread calls is recorded for as long as this lives, also what has no tensors to tell
/// by, as zeros(). Nests; stays on its thread.
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

}  // namespace byre::inline v0::functional
