// SPDX-License-Identifier: BSL-1.0
/// Runs a program as it is and as it was asked for, and compares.
#pragma once

#include "interpreter.hpp"
#include "options.hpp"

#include <byre/functional/graph/graph.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace examples::functionalize {

/// What a program calls, as it is.
struct CallReport {
  std::string text;
  std::size_t calls = 0;
  std::size_t views = 0;
  std::size_t writes = 0;
};

/// What the pass makes of it.
struct GraphReport {
  byre::functional::Graph captured;
  byre::functional::Graph simplified;
  std::size_t dead = 0;   ///< operations that no output needed
  std::size_t again = 0;  ///< operations that computed what one before did
};

struct Report {
  Backend backend = Backend::cpu;
  bool pass = true;
  CallReport calls;
  std::optional<GraphReport> graph;  ///< with the pass alone
  std::vector<NamedTensor> values;   ///< of the CPU
  std::vector<std::string> faults;   ///< empty if all is right
};

/// Throws byre::Error for what the program asks of a backend that has it not.
Report run(const Script& script, const Options& options);

std::string table(const Report& report);
std::string json(const Report& report);

}  // namespace examples::functionalize
