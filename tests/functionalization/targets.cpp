// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

#include <byre/tensor/elements.hpp>

#include <cstring>
#include <limits>

#include "support/functional/opaque_backend.hpp"

namespace byre::test {
namespace {

/// In order.
std::string bytes_of(const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  return packed.nbytes() == 0
             ? std::string()
             : std::string(static_cast<const char*>(packed.raw_data()), packed.nbytes());
}

/// With one NaN for all.
Tensor with_equal_nans(const Tensor& tensor) {
  const Tensor reals =
      tensor.dtype() == DType::complex64 ? tensor.contiguous().view_as_real() : tensor;
  return where(eq(reals, reals), reals, std::numeric_limits<double>::quiet_NaN());
}

std::string text_of(const Seen& seen) {
  return std::string(byre::name_of(seen.dtype)) + byre::to_string(seen.layout.sizes) +
         " of strides " + byre::to_string(seen.layout.strides) + " at " +
         std::to_string(seen.layout.offset) + " of " + std::to_string(seen.storage_nbytes) +
         " bytes, the same as " + std::to_string(seen.same_as) + ", aliasing " +
         std::to_string(seen.aliases);
}

/// Strides that say something.
Layout essential(Layout layout) {
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] <= 1 || layout.numel() == 0) {
      layout.strides[axis] = 0;
    }
  }
  return layout;
}

Tensor tensor_of(const Seen& seen) {
  Tensor tensor = Tensor::empty(seen.layout.sizes, seen.dtype);
  if (!seen.elements.empty()) {
    std::memcpy(tensor.mutable_raw_data(), seen.elements.data(), seen.elements.size());
  }
  return tensor;
}

std::string difference(const Seen& expected, const Seen& found) {
  if (expected.dtype != found.dtype || essential(expected.layout) != essential(found.layout) ||
      expected.storage_nbytes != found.storage_nbytes || expected.same_as != found.same_as ||
      expected.aliases != found.aliases) {
    return "is " + text_of(found) + "\n  and should be " + text_of(expected);
  }
  const bool has_same = expected.elements == found.elements ||
                        have_same_elements(tensor_of(expected), tensor_of(found));
  return has_same ? "" : "has other elements";
}

std::vector<Seen> all_seen(const Tensors& tensors) {
  std::vector<Seen> all;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const Tensor& tensor = to_cpu(tensors[index]);
    Seen seen{tensor.dtype(), tensor.layout(), tensor.storage().nbytes(), bytes_of(tensor), 0, 0};
    while (tensors[seen.same_as] != tensors[index]) {
      ++seen.same_as;
    }
    while (seen.aliases < index && !to_cpu(tensors[seen.aliases]).aliases(tensor)) {
      ++seen.aliases;
    }
    all.push_back(std::move(seen));
  }
  return all;
}

/// A graph that the pass must not make.
struct WrongGraph {
  std::string text;
};

using Transformed = std::function<Tensors(const functional::Program&, const Tensors&)>;

/// Runs a program as `transformed` has it.
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
        present(names, before));
    for (const auto& [name, tensor] : before) {
      seen.push_back(tensor);
    }
    outcome.tensors = all_seen(seen);
  } catch (const Error& error) {
    outcome.failure = error.what();
  } catch (const WrongGraph& wrong) {
    outcome.failure = wrong.text;
  }
  return outcome;
}

void expect_pure(const Graph& graph, bool reapply_views) {
  for (const functional::GraphNode& node : graph.nodes) {
    const bool is_pure = node.is_constant() || node.op->schema().is_pure();
    const bool is_write = !node.is_constant() && node.op->schema().effect() == Effect::write;
    if (is_write || (!is_pure && !reapply_views)) {
      throw WrongGraph{"the graph has " + node.op->name() + ":\n" + to_string(graph)};
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
  return bytes_of(a) == bytes_of(b) ||
         (has_nans && bytes_of(with_equal_nans(a)) == bytes_of(with_equal_nans(b)));
}

Outcome run_reference(const Program& program) {
  return run_by(program,
                [](const functional::Program& f, const Tensors& inputs) { return f(inputs); });
}

Target on_cpu(FunctionalizeOptions options) {
  return target("cpu", options, [=](const functional::Program& f, const Tensors& inputs) {
    return functionalize(f, options)(inputs);
  });
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
  return target(optimize ? "graph, optimized" : "graph", options,
                [=](const functional::Program& f, const Tensors& inputs) {
                  functional::CapturedProgram captured = functional::capture(f, inputs, options);
                  expect_pure(captured.graph, options.reapply_views);
                  if (optimize) {
                    optimize(captured.graph);
                  }
                  return captured(inputs);
                });
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (const bool reapply_views : {true, false}) {
      for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
        all.push_back(on_cpu({reapply_views, paths}));
        all.push_back(on_graph({reapply_views, paths}));
        all.push_back(on_graph({reapply_views, paths}, [](Graph& graph) {
          eliminate_dead_code(graph);
          eliminate_common_subexpressions(graph);
        }));
        if (!reapply_views) {
          all.push_back(on_backend("opaque", {opaque_backend(), to_opaque, from_opaque},
                                   {reapply_views, paths}));
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
  if (expected.trace.happened != found.trace.happened) {
    return "it does " + to_string(found.trace) + "and not " + to_string(expected.trace);
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
