// SPDX-License-Identifier: BSL-1.0
/// Batches of a program: it is run once by vmap over all of a batch, and by itself on each of it.
#pragma once

#include <ostream>

#include "tensor_programs/generate.hpp"

namespace byre::test {

/// How a program is run on a batch, or on batches of batches.
struct BatchTarget {
  using Transform = functional::Program (*)(const functional::Program&);

  const char* name;
  Flavor flavor;        ///< of the programs
  Transform of_member;  ///< within the innermost vmap
  Transform of_all;     ///< around all vmaps
  bool is_nested = false;
  bool is_opaque = false;

  friend void PrintTo(const BatchTarget& target, std::ostream* out) { *out << target.name; }
};

struct BatchOutcome {
  /// How outputs and inputs differ from those of the runs by themselves.
  std::string difference{};
  /// The operator that vmap refuses, or "vmap" for the run as a whole.
  std::string refused_by{};
  /// To each step, by itself.
  std::string happened{};
};

/// Each input has other elements for each member, and its batch at another axis; some have none, and some are views of
/// the first one's memory. Captured tensors have no batch. Runs by themselves have inputs that are apart: vmap refuses
/// to write inputs that share memory.
BatchOutcome run_batch(const Program& program, const BatchTarget& target);

}  // namespace byre::test
