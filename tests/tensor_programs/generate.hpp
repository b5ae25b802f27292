// SPDX-License-Identifier: BSL-1.0
/// Random programs: inputs that may alias each other, compositions of views, writes through views,
/// pure operators and operators of users. Most steps succeed; some are rejected.
#pragma once

#include "program.hpp"

namespace byre::test {

enum class Flavor {
  anything,
  pure,   ///< no views and no writes
  views,  ///< only views, and writes without computation or conversion: all of them exist in NumPy
};

/// Operators that a program draws from, with the weight of drawing one of them.
struct Kind {
  unsigned weight;
  std::vector<std::string> operators;
};

/// The operators that programs call, with their weights. Views and operators along axes come from
/// the registry, so that new ones need no entry.
const std::vector<Kind>& kinds_of(Flavor flavor);

/// Defines operators as users do, so that the pass knows only their schemas. proof_corners is a
/// view; proof_double_ writes and returns a new tensor; proof_exchange_ writes two tensors and
/// returns none; proof_halves is pure and returns two.
void define_user_operators();

/// The program of a seed.
Program generate(std::uint64_t seed, Flavor flavor = Flavor::anything);

/// A view of some input, a write through it, and reads and writes of its memory.
Program generate_pair(std::uint64_t seed, const std::string& view, const std::string& write);

/// The number of programs of a test: the environment variable BYRE_FUNCTIONALIZATION_PROGRAMS, or
/// 20,000.
std::size_t program_count();

}  // namespace byre::test
