// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

#include <byre/tensor/elements.hpp>

#include <limits>

#include "support/functional/opaque_backend.hpp"
#include "tensor_programs/random_calls.hpp"

namespace byre::test {
namespace {

/// Replaces each NaN by one fixed NaN.
Tensor with_equal_nans(const Tensor& tensor) {
  const Tensor reals =
      tensor.dtype() == DType::complex64 ? tensor.contiguous().view_as_real() : tensor;
  return where(eq(reals, reals), reals, std::numeric_limits<double>::quiet_NaN());
}

std::string text_of(const TensorState& seen) {
  const Tensor& tensor = seen.tensor;
  return std::string(byre::name_of(tensor.dtype())) + byre::to_string(tensor.sizes()) +
         " of strides " + byre::to_string(tensor.strides()) + " at " +
         std::to_string(tensor.storage_offset()) + " of " +
         std::to_string(tensor.storage().nbytes()) + " bytes, identical to " +
         std::to_string(seen.first_identical) + ", aliasing " + std::to_string(seen.aliases);
}

/// Clears strides that have no effect: those of dimensions of size 0 or 1, and of tensors without
/// elements.
Layout with_significant_strides(Layout layout) {
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] <= 1 || layout.numel() == 0) {
      layout.strides[axis] = 0;
    }
  }
  return layout;
}

std::string difference(const TensorState& expected, const TensorState& found) {
  const Tensor& a = expected.tensor;
  const Tensor& b = found.tensor;
  if (a.dtype() != b.dtype() ||
      with_significant_strides(a.layout()) != with_significant_strides(b.layout()) ||
      a.storage().nbytes() != b.storage().nbytes() ||
      expected.first_identical != found.first_identical || expected.aliases != found.aliases) {
    return "is " + text_of(found) + "\n  but should be " + text_of(expected);
  }
  return have_same_elements(a, b) ? "" : "has other elements";
}

std::vector<TensorState> states_of(const Tensors& tensors) {
  std::vector<TensorState> all;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const Tensor& tensor = to_cpu(tensors[index]);
    TensorState seen{tensor};
    while (tensors[seen.first_identical] != tensors[index]) {
      ++seen.first_identical;
    }
    while (seen.aliases < index && !to_cpu(tensors[seen.aliases]).aliases(tensor)) {
      ++seen.aliases;
    }
    all.push_back(std::move(seen));
  }
  return all;
}

using Transformed = std::function<Tensors(const functional::Program&, const Tensors&)>;

/// Runs `program` through `transformed`, which applies a transform and calls the result.
Outcome run_by(const Program& program, const Transformed& transformed) {
  Outcome outcome;
  const Values before = set_up(program);
  std::vector<Ref> names;
  for (const Ref input : program.inputs) {
    if (before.contains(input)) {
      names.push_back(input);
    }
  }
  try {
    Tensors seen = transformed(
        [&](const Tensors& inputs) { return run(program, names, inputs, before, outcome.trace); },
        existing(names, before));
    for (const auto& [name, tensor] : before) {
      seen.push_back(tensor);
    }
    outcome.tensors = states_of(seen);
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

void expect_pure(const Graph& graph, bool reapply_views) {
  for (const functional::GraphNode& node : graph.nodes) {
    const bool is_pure = node.is_constant() || node.op->schema().is_pure();
    const bool is_write = !node.is_constant() && node.op->schema().effect() == Effect::write;
    if (is_write || (!is_pure && !reapply_views)) {
      throw StateError(
          format_text("the graph has %s:\n%s", node.op->name().c_str(), to_string(graph).c_str()));
    }
  }
}

const char* name_of(FunctionalizeOptions options) {
  const bool by_strides = options.paths == ViewPaths::strides;
  return options.reapply_views ? by_strides ? ", views by strides" : ", views by chains"
         : by_strides          ? ", no views, by strides"
                               : ", no views, by chains";
}

Target target(const std::string& name, FunctionalizeOptions options, Transformed transformed) {
  return {name + name_of(options), [transformed = std::move(transformed)](const Program& program) {
            return run_by(program, transformed);
          }};
}

}  // namespace

bool have_same_elements(const Tensor& a, const Tensor& b) {
  const bool has_nans = category_of(a.dtype()) >= Category::floating;
  return are_same(a, b) || (has_nans && are_same(with_equal_nans(a), with_equal_nans(b)));
}

Outcome run_reference(const Program& program) {
  return run_by(program,
                [](const functional::Program& f, const Tensors& inputs) { return f(inputs); });
}

Target on_backend(const std::string& name, const functional::Lowering& backend,
                  FunctionalizeOptions options) {
  return target(name, options, [=](const functional::Program& f, const Tensors& inputs) {
    return functionalize_on(backend, f, options)(inputs);
  });
}

Target on_graph_by(const std::string& name, FunctionalizeOptions options,
                   std::function<Tensors(const Graph&, const Tensors&)> compute) {
  return target(name, options, [=](const functional::Program& f, const Tensors& inputs) {
    const functional::CapturedProgram captured = functional::capture(f, inputs, options);
    return captured.run(inputs,
                        [&](const Tensors& bases) { return compute(captured.graph, bases); });
  });
}

Target on_graph(FunctionalizeOptions options, std::function<void(Graph&)> optimize) {
  return on_graph_by(optimize ? "graph, optimized" : "graph", options,
                     [=](Graph graph, const Tensors& bases) {
                       expect_pure(graph, options.reapply_views);
                       if (optimize) {
                         optimize(graph);
                       }
                       return functional::execute(graph, bases);
                     });
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (const bool reapply_views : {true, false}) {
      for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
        const FunctionalizeOptions options{reapply_views, paths};
        all.push_back(target("cpu", options, [=](const auto& f, const Tensors& inputs) {
          return functionalize(f, options)(inputs);
        }));
        all.push_back(on_graph(options));
        all.push_back(on_graph(options, [](Graph& graph) {
          eliminate_dead_code(graph);
          eliminate_common_subexpressions(graph);
        }));
        if (!reapply_views) {
          all.push_back(on_backend("opaque", {opaque_backend(), to_opaque, from_opaque}, options));
        }
      }
    }
    return all;
  }();
  return targets;
}

std::string difference(const Outcome& expected, const Outcome& found) {
  if (!found.failure.empty() || !expected.failure.empty()) {
    return "it failed: " + found.failure + expected.failure;
  }
  if (expected.trace.results != found.trace.results) {
    return "it does " + to_string(found.trace) + "but should do " + to_string(expected.trace);
  }
  for (std::size_t index = 0; index < expected.tensors.size(); ++index) {
    const std::string text = difference(expected.tensors[index], found.tensors.at(index));
    if (!text.empty()) {
      return "tensor " + std::to_string(index) + ", counting outputs first, " + text;
    }
  }
  return {};
}

std::string difference(const Program& program, const Target& target) {
  const std::string found = difference(run_reference(program), target.run(program));
  return found.empty() ? found : "on " + target.name + ": " + found;
}

std::string smallest_difference(const Program& program, const Outcome& expected,
                                const Target& target) {
  const auto difference_of = [&](const Program& each) { return difference(each, target); };
  return difference(expected, target.run(program)).empty()
             ? ""
             : smallest_failure(program, difference_of);
}

}  // namespace byre::test
