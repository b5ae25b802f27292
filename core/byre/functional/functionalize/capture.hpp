// SPDX-License-Identifier: BSL-1.0
/// capture(f) records a function over tensors as a graph of pure operations. The captured program
/// executes the graph and gives its values the effect of f: it writes the inputs and returns the
/// outputs that f would.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/graph/graph.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace byre::inline v0::functional {

class FunctionalRun;

/// A value: a copy has its own graph. The graph may be simplified as long as its inputs and outputs
/// keep their order, sizes and dtypes. Thread-safety: as of a standard container, and of the
/// tensors that are written.
class BYRE_API CapturedProgram {
 public:
  /// The graph's inputs are the memories of the program's inputs. Its outputs are the new contents
  /// of the written memories, then the program's results.
  Graph graph;

  /// Returns, for each input of the graph, the index of the first program input in that memory.
  /// Throws OutOfMemory. Cost: O(inputs).
  std::vector<std::size_t> program_inputs() const;

  /// Executes the graph on the backend of the inputs, writes the inputs that f writes, and returns
  /// the results of f. Requires the backend, sizes, dtypes and aliasing of the examples.
  ///
  /// Throws ArgumentError if an input is empty; GraphError if the inputs differ from the examples;
  /// FunctionalizeError as functionalize(); StateError if an input that f grows has views outside
  /// the inputs; and the errors of execute(). Nothing is written then.
  Tensors operator()(const Tensors& inputs) const;

  /// Does what operator() does, but obtains the values of the graph's outputs from `compute`, which
  /// receives the values of its inputs. For compilers of graphs, or for execution on another
  /// machine. Values are tensors of the inputs' backend.
  ///
  /// Also throws ArgumentError if `compute` or a value is empty, and GraphError if the number,
  /// sizes or dtypes of the values differ from the graph's outputs. Nothing is written then.
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
/// decision based on elements. The examples must be tensors of one backend; they are not changed.
/// If f returns a tensor of the CPU that it did not create, every execution returns that tensor.
/// With `reapply_views` the graph contains views.
///
/// Throws the exceptions of f, std::bad_alloc as OutOfMemory; DeviceError if the examples are of
/// several backends, of a pass or of a graph; and the errors of functionalize(). Cost: one run of
/// `f`, without computing elements.
BYRE_API CapturedProgram capture(const Program& f, const Tensors& examples,
                                 FunctionalizeOptions options = {});

}  // namespace byre::inline v0::functional
