// SPDX-License-Identifier: BSL-1.0
/// Targets: ways to run a program under the pass. Every observable effect must equal the effect of
/// the reference, which runs the program on plain tensors of the CPU.
#pragma once

#include "tensor_programs/program.hpp"

namespace byre::test {

/// The observable state of a tensor.
struct TensorState {
  Tensor tensor;
  std::size_t first_identical = 0;  ///< index of the first handle to the same tensor
  std::size_t aliases = 0;          ///< index of the first tensor that shares the storage
};

/// The observable effects of a program. `tensors` contains its outputs, then all tensors that
/// existed before the run (inputs and others).
struct Outcome {
  Trace trace;
  std::vector<TensorState> tensors;
  std::string failure;  ///< the error of the run, or empty
};

/// Whether sizes and elements are equal bit by bit. All NaNs are equal. Requires equal dtypes.
bool have_same_elements(const Tensor& a, const Tensor& b);

/// The reference: runs the program with byre/tensor, with views in memory.
Outcome run_reference(const Program& program);

struct Target {
  std::string name;
  std::function<Outcome(const Program&)> run;
};

Target on_backend(const std::string& name, const functional::Lowering& backend,
                  FunctionalizeOptions options);
/// Captures the program and computes the graph's outputs by `compute`.
Target on_graph_by(const std::string& name, FunctionalizeOptions options,
                   std::function<Tensors(const Graph&, const Tensors&)> compute);
/// Captures the program and executes its graph after `optimize`, if given. Checks that the graph
/// has no write and, unless the option `reapply_views` is true, no view.
Target on_graph(FunctionalizeOptions options, std::function<void(Graph&)> optimize = {});

/// All four combinations of the pass's options, each on the CPU, on graphs, and on optimized
/// graphs; and the two combinations without views on opaque tensors, which do not support views.
const std::vector<Target>& all_targets();

/// Returns a text that describes how `target` differs from the reference, empty if they agree.
std::string difference(const Program& program, const Target& target);
/// Returns an empty text if `target` agrees with `expected`. Otherwise returns the text of the
/// smallest program found for which `target` differs, and of the difference.
std::string smallest_difference(const Program& program, const Outcome& expected,
                                const Target& target);

}  // namespace byre::test
