// SPDX-License-Identifier: BSL-1.0
/// What must be true of all lives, told by the plan alone.
#pragma once

#include "run.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace examples::branching_cache {

/// Of the branches of one life, once they were dropped, truncated and branched again.
struct Expected {
  std::size_t living = 0;
  std::size_t copied_tokens_eagerly = 0;
  std::size_t copied_tokens = 0;  ///< by blocks and by tiles
  std::size_t copied_blocks = 0;  ///< by those that are left, and by what they branched from
  std::size_t copied_tiles = 0;   ///< those of dropped branches included
  std::size_t live_tiles = 0;     ///< beside those of the prefix
  std::size_t own_tiles = 0;      ///< that branches do not share with the prefix, each's own count
  std::size_t unlike_parent = 0;  ///< tiles of branches of branches
};

Expected expect(const Plan& plan, std::size_t branches);

/// What is wrong, a sentence each.
std::vector<std::string> check(const Results& results, const Plan& plan);

}  // namespace examples::branching_cache
