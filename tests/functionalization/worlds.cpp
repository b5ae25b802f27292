// SPDX-License-Identifier: BSL-1.0
#include "worlds.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/backends/texture.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/file.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor/print.hpp>

namespace byre::test {
namespace {

using functional::AnyTensor;
using functional::FunctionalizeOptions;
using functional::Graph;
using functional::Key;
using functional::Remove;
using functional::Tensors;
using functional::ViewPaths;

/// A world found something wrong with itself.
struct Wrong {
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
  } catch (const Wrong& wrong) {
    outcome.failure = wrong.text;
  }
  return outcome;
}

/// What is wrong with a graph of the pass, or nothing.
std::string impurity(const Graph& graph, Remove remove) {
  for (const functional::GraphNode& node : graph.nodes) {
    const bool is_pure = node.is_constant() || node.op->schema().is_pure();
    const bool is_write =
        !node.is_constant() && node.op->schema().effect() == functional::Effect::write;
    if (is_write || (!is_pure && remove == Remove::mutations_and_views)) {
      return "the graph has " + node.op->name() + ":\n" + to_string(graph);
    }
  }
  return {};
}

Tensors by_graph(const functional::Program& f, const Tensors& inputs, FunctionalizeOptions options,
                 const std::function<void(Graph&)>& optimize) {
  functional::CapturedProgram captured = functional::capture(f, inputs, options);
  if (const std::string wrong = impurity(captured.graph, options.remove); !wrong.empty()) {
    throw Wrong{wrong};
  }
  if (optimize) {
    optimize(captured.graph);
  }
  return captured(inputs);
}

const char* name_of(FunctionalizeOptions options) {
  const bool by_strides = options.paths == ViewPaths::strides;
  return options.remove == Remove::mutations
             ? by_strides ? ", views by strides" : ", views by chains"
         : by_strides ? ", no views, by strides"
                      : ", no views, by chains";
}

}  // namespace

Outcome run_plain(const Program& program) {
  return run_by(program,
                [](const functional::Program& f, const Tensors& inputs) { return f(inputs); });
}

World on_cpu(FunctionalizeOptions options) {
  return {std::string("cpu") + name_of(options), [options](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return functionalize(f, options)(inputs);
            });
          }};
}

World on_texture(FunctionalizeOptions options) {
  const functional::Lowering lowering{Key::texture, functional::to_texture,
                                      functional::from_texture};
  return {std::string("texture") + name_of(options), [=](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return functionalize_on(lowering, f, options)(inputs);
            });
          }};
}

void optimize(Graph& graph, Remove remove) {
  eliminate_dead_code(graph);
  eliminate_common_subexpressions(graph);
  graph =
      functional::read_graph(functional::write_graph(graph), "written",
                             remove == Remove::mutations ? functional::Recording::Views::recorded
                                                         : functional::Recording::Views::refused);
}

World on_graph(FunctionalizeOptions options, std::function<void(Graph&)> optimize) {
  return {std::string(optimize ? "graph, optimized" : "graph") + name_of(options),
          [=](const Program& program) {
            return run_by(program, [&](const functional::Program& f, const Tensors& inputs) {
              return by_graph(f, inputs, options, optimize);
            });
          }};
}

const std::vector<World>& all_worlds() {
  static const std::vector<World> worlds = [] {
    std::vector<World> all;
    for (const Remove remove : {Remove::mutations, Remove::mutations_and_views}) {
      for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
        all.push_back(on_cpu({remove, paths}));
        all.push_back(on_graph({remove, paths}));
        all.push_back(
            on_graph({remove, paths}, [remove](Graph& graph) { optimize(graph, remove); }));
        if (remove == Remove::mutations_and_views) {
          all.push_back(on_texture({remove, paths}));
        }
      }
    }
    return all;
  }();
  return worlds;
}

std::string difference(const Program& program, const World& world) {
  const std::string found = difference(run_plain(program), world.run(program));
  return found.empty() ? found : "on " + world.name + ": " + found;
}

}  // namespace byre::test
