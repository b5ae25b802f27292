// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"
#include "support/functional/opaque_backend.hpp"

namespace byre::test {
namespace {

/// A graph that the pass must not make.
struct WrongGraph {
  std::string text;
};

/// Runs a program as `transformed` has it.
Outcome run_by(
    const Program& program,
    const std::function<Tensors(const functional::Program&, const Tensors&)>& transformed) {
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

/// What is wrong with a graph of the pass, or nothing.
std::string impurity(const Graph& graph, bool reapply_views) {
  for (const functional::GraphNode& node : graph.nodes) {
    const bool is_pure = node.is_constant() || node.op->schema().is_pure();
    const bool is_write = !node.is_constant() && node.op->schema().effect() == Effect::write;
    if (is_write || (!is_pure && !reapply_views)) {
      return "the graph has " + node.op->name() + ":\n" + to_string(graph);
    }
  }
  return {};
}

Tensors by_graph(const functional::Program& f, const Tensors& inputs, FunctionalizeOptions options,
                 const std::function<void(Graph&)>& optimize) {
  functional::CapturedProgram captured = functional::capture(f, inputs, options);
  if (const std::string wrong = impurity(captured.graph, options.reapply_views); !wrong.empty()) {
    throw WrongGraph{wrong};
  }
  if (optimize) {
    optimize(captured.graph);
  }
  return captured(inputs);
}

const char* name_of(FunctionalizeOptions options) {
  const bool by_strides = options.paths == ViewPaths::strides;
  return options.reapply_views ? by_strides ? ", views by strides" : ", views by chains"
         : by_strides          ? ", no views, by strides"
                               : ", no views, by chains";
}

}  // namespace

Outcome run_reference(const Program& program) {
  return run_by(program,
                [](const functional::Program& f, const Tensors& inputs) { return f(inputs); });
}

Target on_cpu(FunctionalizeOptions options) {
  return {std::string("cpu") + name_of(options), [options](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return functionalize(f, options)(inputs);
            });
          }};
}

Target on_backend(const std::string& name, const functional::Lowering& backend,
                  FunctionalizeOptions options) {
  return {name + name_of(options), [=](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return functionalize_on(backend, f, options)(inputs);
            });
          }};
}

Target on_graph_by(const std::string& name, FunctionalizeOptions options,
                   std::function<Tensors(const Graph&, const Tensors&)> compute) {
  return {name + name_of(options), [=](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              const functional::CapturedProgram captured = functional::capture(f, inputs, options);
              return captured.run(
                  inputs, [&](const Tensors& bases) { return compute(captured.graph, bases); });
            });
          }};
}

Target on_graph(FunctionalizeOptions options, std::function<void(Graph&)> optimize) {
  return {std::string(optimize ? "graph, optimized" : "graph") + name_of(options),
          [=](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return by_graph(f, inputs, options, optimize);
            });
          }};
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

std::string difference(const Program& program, const Target& target) {
  const std::string found = difference(run_reference(program), target.run(program));
  return found.empty() ? found : "on " + target.name + ": " + found;
}

}  // namespace byre::test
