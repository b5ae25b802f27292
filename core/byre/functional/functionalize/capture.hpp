// SPDX-License-Identifier: BSL-1.0
/// capture(f): a function over tensors as a graph of pure operations, and what is done with the
/// graph's values so that it has the effect of f.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/graph/graph.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace byre::inline v0::functional {

class FunctionalRun;

/// A value. Its graph may be simplified, as long as inputs and outputs stay what they are.
class BYRE_API CapturedProgram {
 public:
  /// The graph's inputs are the memories of the program's inputs. Its outputs are the new contents
  /// of the memories that the program writes, and then what the program returns.
  Graph graph;

  /// For each input of the graph, the first input of the program that is of that memory.
  std::vector<std::size_t> program_inputs() const;

  /// Executes the graph, on the backend of the inputs. They are of the backend that the examples are of, have their
  /// sizes and dtypes, and alias as those do. Writes those that f writes, and returns what f returns. Throws
  /// GraphError for others, and what execute() throws; nothing is written then.
  Tensors operator()(const Tensors& inputs) const;

  /// The same, where `compute` gives the values of the graph's outputs for those of its inputs: for who has compiled
  /// the graph, or has another machine execute it. Values are of the backend of the inputs. Throws GraphError too for
  /// values of another number, or of other sizes or dtypes, than the graph's outputs; nothing is written then.
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

/// Runs `f` once, on tensors without elements: it must not decide anything by elements. `examples`
/// are of one backend, and are not changed. Tensors of the CPU that f returns and did not make are
/// returned by every execution. With `reapply_views` the graph has views. Throws what f throws,
/// std::bad_alloc as OutOfMemory, and as functionalize().
BYRE_API CapturedProgram capture(const Program& f, const Tensors& examples,
                                 FunctionalizeOptions options = {});

}  // namespace byre::inline v0::functional
