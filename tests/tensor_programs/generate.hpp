// SPDX-License-Identifier: BSL-1.0
/// Random programs: inputs that may alias each other, compositions of views, writes through views,
/// pure operators and user-defined operators. Most steps succeed; some are rejected.
#pragma once

#include "program.hpp"

namespace byre::test {

enum class Flavor {
  anything,
  pure,   ///< no views and no writes
  views,  ///< only views, and writes that neither compute nor convert: all exist in NumPy
};

/// A group of operators. Programs draw a group by weight, and then one operator of the group.
struct Kind {
  unsigned weight;
  std::vector<std::string> operators;
};

/// The operators that programs call, with their weights. Views and operators along axes are taken
/// from the registry, so that new views and new operators along axes need no entry.
const std::vector<Kind>& kinds_of(Flavor flavor);

/// Defines operators as users do, so that the functionalization pass knows only their schemas.
/// proof_corners is a view. proof_double_ writes its tensor and also returns a new tensor.
/// proof_exchange_ writes two tensors and returns nothing. proof_halves is pure and returns two
/// tensors.
void define_user_operators();

/// The program that `seed` determines.
Program generate(std::uint64_t seed, Flavor flavor = Flavor::anything);

/// A program that makes a view of a random input, writes through the view, and then reads and
/// writes the viewed memory.
Program generate_pair(std::uint64_t seed, const std::string& view, const std::string& write);

/// The number of programs of a test: the environment variable BYRE_FUNCTIONALIZATION_PROGRAMS, or
/// 20,000.
std::size_t program_count();

}  // namespace byre::test
