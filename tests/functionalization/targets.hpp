// SPDX-License-Identifier: BSL-1.0
/// Targets: ways to run a program under the pass. What is observed of it afterwards has to be the
/// same on all of them as on plain tensors, the reference.
#pragma once

#include "tensor_programs/program.hpp"

namespace byre::test {

/// All there is to see of a tensor.
struct TensorState {
  Tensor tensor;
  std::size_t first_identical = 0;  ///< the first tensor of the outcome that is this very one
  std::size_t aliases = 0;          ///< the first that shares its storage
};

/// What can be told of a program once it is done: of the outputs, then of all tensors that were there before, inputs and
/// those that were none.
struct Outcome {
  Trace trace;
  std::vector<TensorState> tensors;
  std::string failure;  ///< of the run itself
};

/// Whether sizes are equal, and elements bit by bit, all NaNs alike. Both are of one dtype.
bool have_same_elements(const Tensor& a, const Tensor& b);

/// The reference: as byre/tensor does it, with views, in memory.
Outcome run_reference(const Program& program);

struct Target {
  std::string name;
  std::function<Outcome(const Program&)> run;
};

Target on_backend(const std::string& name, const functional::Lowering& backend,
                  FunctionalizeOptions options);
/// Captured, with the values of the graph's outputs from `compute`.
Target on_graph_by(const std::string& name, FunctionalizeOptions options,
                   std::function<Tensors(const Graph&, const Tensors&)> compute);
/// Captured as a graph, which must not have an operator that writes, nor a view unless views are
/// reapplied. It is executed once `optimize`, if there is one, was done to it.
Target on_graph(FunctionalizeOptions options, std::function<void(Graph&)> optimize = {});

/// The four ways of the pass, on the CPU and on graphs, those optimized or not; and two of them on
/// opaque tensors, which have no views.
const std::vector<Target>& all_targets();

/// How `target` differs from the reference, or nothing.
std::string difference(const Program& program, const Target& target);
/// Nothing, or if it differs from `expected`, the smallest program that does, and how.
std::string smallest_difference(const Program& program, const Outcome& expected,
                                const Target& target);

}  // namespace byre::test
