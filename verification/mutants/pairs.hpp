// SPDX-License-Identifier: BSL-1.0
/// Which steps follow each other within one operation, and which of those can be swapped.
#pragma once

#include <string_view>
#include <vector>

#include "../relacy/mutation.hpp"

namespace byre::verification {

struct AdjacentSteps {
  const sync::Site* first;
  const sync::Site* second;
  /// Why there is no mutant that swaps them; empty if there is one.
  std::string_view not_swapped;
};

/// Observed by running every operation of both forms without a mutant. Throws std::runtime_error if
/// a step of theirs was never taken.
std::vector<AdjacentSteps> observe_adjacent_steps();

/// The mutants that swap them.
std::vector<Mutation> swaps_of(const std::vector<AdjacentSteps>& adjacent);

/// The mutant that takes `next` before `site`. Throws std::invalid_argument, with the reason, if
/// there is none.
Mutation find_swap(const sync::Site& site, const sync::Site& next);

}  // namespace byre::verification
