// SPDX-License-Identifier: BSL-1.0
/// capture(f) records a function over tensors as a graph of pure operations. The captured program
/// executes the graph and has the effect of f: it writes the inputs that f writes, and returns the
/// results of f.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/graph/graph.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

class FunctionalRun;

/// A program that was captured as a graph. A copy has its own graph. The graph may be simplified as
/// long as its inputs and outputs keep their order, sizes and dtypes. Thread-safety: that of a
/// standard container; for the tensors that a call reads and writes, the rules of AnyTensor hold.
class BYRE_API CapturedProgram {
 public:
  /// The inputs of the graph are the memories of the program's inputs: one graph input for all
  /// program inputs that share memory. The outputs of the graph are the new contents of the written
  /// memories, then the program's results.
  Graph graph;

  /// Returns, for each input of the graph, the index of the first program input in that memory.
  /// Throws OutOfMemory. Cost: O(inputs).
  std::vector<std::size_t> program_inputs() const;

  /// Executes the graph on the backend of the inputs, writes the inputs that f writes, and returns
  /// the results of f. Requires inputs with the backend, sizes, dtypes and aliasing of the
  /// examples.
  ///
  /// Throws ArgumentError if an input is empty, GraphError if the inputs differ from the examples,
  /// FunctionalizeError if inputs share memory in an unsupported way, StateError if an input that f
  /// grows has views outside the inputs, or the errors of execute(). After an error, no input was
  /// written.
  Tensors operator()(const Tensors& inputs) const;

  /// Does what operator() does, except that it does not execute the graph: `compute` receives the
  /// values of the graph's inputs, and returns the values of the graph's outputs. Use this with a
  /// compiler of graphs, or to execute the graph on another machine. All values are tensors of the
  /// inputs' backend.
  ///
  /// Also throws ArgumentError if `compute` or a value is empty, and GraphError if the number,
  /// sizes or dtypes of the values differ from those of the graph's outputs. After an error, no
  /// input was written.
  Tensors run(const Tensors& inputs, const Program& compute) const;

 private:
  friend CapturedProgram capture(const Program& f, const Tensors& examples,
                                 FunctionalizeOptions options);
  CapturedProgram(Graph captured, std::vector<TensorMeta> outputs,
                  std::shared_ptr<const FunctionalRun> run) noexcept
      : graph(std::move(captured)), outputs_(std::move(outputs)), run_(std::move(run)) {}

  std::vector<TensorMeta> outputs_;
  std::shared_ptr<const FunctionalRun> run_;
};

/// Runs `f` once on tensors without elements and returns its graph. Requires that `f` makes no
/// decision based on elements. The examples must be tensors of one backend, and may include tensors
/// of the CPU; they are not changed. If `f` returns a tensor of the CPU that it did not create,
/// every execution returns that tensor. With the option `reapply_views` the graph contains views.
///
/// Throws the exceptions of `f`, DeviceError if the examples belong to several backends besides the
/// CPU, to a pass or to a graph, or the errors of functionalize(). A std::bad_alloc becomes
/// OutOfMemory. Cost: one run of `f`, without computing elements.
BYRE_API CapturedProgram capture(const Program& f, const Tensors& examples,
                                 FunctionalizeOptions options = {});

}  // namespace byre::inline BYRE_ABI::functional
