// SPDX-License-Identifier: BSL-1.0
/// The outcome of a run.
#pragma once

#include <byre/observe/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mixed/counts.hpp"
#include "settings.hpp"

namespace byre::stress {

struct Outcome {
  std::string workload;
  Settings settings;
  double seconds = 0;
  std::uint64_t operations = 0;
  Counts counts;
  stats::Counters counters;
  std::uint64_t checkpoints = 0;
  std::optional<std::size_t>
      digest;  ///< of all decisions, in the order of threads; races have none
  std::vector<std::string> failures;
  std::vector<std::string> last_operations;  ///< of every thread, if something failed
};

}  // namespace byre::stress
