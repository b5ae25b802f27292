// SPDX-License-Identifier: BSL-1.0
/// capture(f): a function over tensors as a graph of pure operations, and what is to be done with its
/// values so that it has the effect of f.
#pragma once

#include <byre/functional/functionalize/functional_run.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/graph.hpp>

namespace byre::inline v0::functional {

/// A value. Its graph may be simplified, as long as inputs and outputs stay what they are.
class CapturedProgram {
 public:
  /// The inputs are the memories that the program's inputs are of; the outputs are the new contents of
  /// those that it writes, and then what it returns.
  Graph graph;

  /// Executes the graph on tensors of the CPU, of the sizes and dtypes of the examples, that alias as
  /// those do. Writes those that f writes, and returns what f returns. Throws GraphError for others, and
  /// what execute() throws; nothing is written then.
  Tensors operator()(const Tensors& inputs) const;

 private:
  friend CapturedProgram capture(const Program& f, const Tensors& examples,
                                 FunctionalizeOptions options);
  explicit CapturedProgram(FunctionalRun run) noexcept : run_(std::move(run)) {}

  FunctionalRun run_;
};

/// Runs `f` once, on tensors without elements: what it decides by elements it cannot decide. `examples`
/// are of the CPU, and are not changed. Tensors of the CPU that f returns and did not make are returned
/// by every execution. With Remove::mutations the graph has views. Throws what f throws.
CapturedProgram capture(const Program& f, const Tensors& examples,
                        FunctionalizeOptions options = {});

}  // namespace byre::inline v0::functional
