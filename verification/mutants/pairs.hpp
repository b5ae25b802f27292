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

/// Learned by running every operation of both forms without a mutant. Throws std::runtime_error if
/// a step of theirs was never taken.
std::vector<AdjacentSteps> learn_adjacent_steps();

}  // namespace byre::verification
