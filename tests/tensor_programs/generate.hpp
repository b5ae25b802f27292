// SPDX-License-Identifier: BSL-1.0
/// Random programs: inputs that may alias each other, views in any composition, writes through them, pure operators,
/// operators of users. Most steps do something; some are refused.
#pragma once

#include "program.hpp"

namespace byre::test {

enum class Flavor {
  anything,
  pure,   ///< neither views nor writes
  views,  ///< views, and writes that neither compute nor convert: what NumPy does too
};

/// A program draws one of the operators.
struct Kind {
  unsigned weight;
  std::vector<std::string> operators;
};

/// Which operators programs call, and how often. Views and operators along axes are those of the registry: new ones need
/// no row.
const std::vector<Kind>& kinds_of(Flavor flavor);

/// Operators as users define them: the pass knows their schemas alone. proof_corners is a view; proof_double_ writes and
/// returns a new tensor; proof_exchange_ writes two tensors and returns none; proof_halves is pure and returns two.
void define_user_operators();

/// A seed has one program.
Program generate(std::uint64_t seed, Flavor flavor = Flavor::anything);

/// A view of some input, a write through it, and reads and writes of its memory.
Program generate_pair(std::uint64_t seed, const std::string& view, const std::string& write);

/// How many programs a test runs: BYRE_FUNCTIONALIZATION_PROGRAMS of the environment, or 20,000.
std::size_t program_count();

}  // namespace byre::test
