// SPDX-License-Identifier: BSL-1.0
/// All ways to keep branches, side by side, and what each cost.
#pragma once

#include "options.hpp"
#include "server.hpp"

#include <byre/observe/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace examples::branching_cache {

/// One for each time that all was done.
using Times = std::vector<Spent>;

/// A life is of all branches, from made to dropped. Times are of all branches.
struct WayResult {
  const char* name;
  std::size_t branches;
  std::vector<Times> append{2};  ///< into fresh memory of the system, and into what the pool kept
  Times make{};                  ///< of both
  Times change{};                ///< drops, truncations and branches of branches
  std::optional<std::int64_t> resident_nbytes{};  ///< gained by the prefix and what was appended
  std::vector<Findings> lives{};                  ///< that were read back: the last two
};

/// Bytes in byre's buffers, in one life.
struct LiveBytes {
  std::int64_t prefix;   ///< of the prefix alone
  std::int64_t changed;  ///< once branches were dropped, truncated and branched again
  std::int64_t left;     ///< once all branches were dropped
};

struct Results {
  WayResult plain;
  WayResult eager;
  WayResult blocks;
  WayResult tiles;
  byre::stats::Counters counted{};  ///< over all lives of tiles
  std::vector<LiveBytes> live{};    ///< in each of them
};

/// Throws byre::Error, Interrupted.
Results run(const Plan& plan);

}  // namespace examples::branching_cache
