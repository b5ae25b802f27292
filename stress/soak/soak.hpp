// SPDX-License-Identifier: BSL-1.0
/// Soak: a long run of all workloads in turn, perturbed and not, with few threads and with many; and whether anything
/// failed or grew meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../settings.hpp"

namespace byre::stress {

/// The resources of the process, to be compared before and after. Exact while other threads are idle.
/// 0 where the system does not say.
struct Resources {
  std::uint64_t resident_nbytes = 0;
  std::uint64_t heap_nbytes = 0;  ///< allocated by malloc
  std::uint64_t mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t threads = 0;
};

/// The resources that grew by more than is allowed, one line each: 1 MiB of the heap, for what libraries
/// keep; 16 MiB resident, for the ends of malloc's arenas; as many mappings as arenas may add; no file and
/// no thread.
std::vector<std::string> growth(const Resources& before, const Resources& after);

/// At least two rotations, unless the user ends it; for the duration of the settings in all. With `operations` it is
/// exactly two, of so many each. The first failure ends it. Prints a page, and returns whether nothing failed or grew.
/// Throws as the workloads do.
bool soak(const Settings& settings);

}  // namespace byre::stress
