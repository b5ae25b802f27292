// SPDX-License-Identifier: BSL-1.0
/// Soak: a long run of all workloads in turn, perturbed and not, with few and many threads. It
/// reports failures, and resources that grew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../settings.hpp"

namespace byre::stress {

/// Resources of the process, for comparison before and after. Exact while other threads are idle. A
/// number is 0 if the system does not provide it.
struct Resources {
  std::uint64_t resident_nbytes = 0;
  std::uint64_t heap_nbytes = 0;  ///< allocated by malloc
  std::uint64_t mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t threads = 0;
};

/// Returns one line for each resource that grew by more than the allowed amount: 1 MiB of heap,
/// which libraries may retain; 16 MiB of resident memory, for the ends of malloc's arenas; the
/// number of mappings that arenas may add; no file and no thread.
std::vector<std::string> growth(const Resources& before, const Resources& after);

/// Runs all workloads for the duration of the settings in total, in at least two rotations unless
/// the user ends it. If `settings.operations` is set, runs exactly two rotations, in which each
/// thread of a workload executes that many operations. Stops at the first failure. Prints a report
/// of one page. Returns true if nothing failed or grew. Throws the exceptions of the workloads.
bool soak(const Settings& settings);

}  // namespace byre::stress
