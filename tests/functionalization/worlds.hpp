// SPDX-License-Identifier: BSL-1.0
/// Worlds: where a program can run. What is told of it afterwards has to be the same in all.
#pragma once

#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/graph/graph.hpp>

#include <functional>
#include <string>
#include <vector>

#include "outcome.hpp"

namespace byre::test {

/// As byre/tensor does it: with views, in memory.
Outcome run_plain(const Program& program);

struct World {
  std::string name;
  std::function<Outcome(const Program&)> run;
};

World on_cpu(functional::FunctionalizeOptions options);
World on_texture(functional::FunctionalizeOptions options);
/// Captured as a graph, in which there has to be nothing that writes, and no view unless those stay;
/// executed once `optimize`, if there is one, was done to it.
World on_graph(functional::FunctionalizeOptions options,
               std::function<void(functional::Graph&)> optimize = {});
/// Eliminates dead code and common subexpressions, writes the graph and reads it back.
void optimize(functional::Graph& graph, functional::Remove remove);

/// The four ways of the pass, on the CPU and on graphs, those optimized or not; and, on textures, which
/// have no views, two.
const std::vector<World>& all_worlds();

/// Whether plain tensors and those of `world` disagree, and how.
std::string difference(const Program& program, const World& world);

}  // namespace byre::test
