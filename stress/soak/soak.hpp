// SPDX-License-Identifier: BSL-1.0
/// Soak: a long run of all workloads in turn, perturbed and not, with few threads and with many; and whether anything
/// failed or grew meanwhile.
#pragma once

#include <string>
#include <vector>

#include "../supervisor.hpp"
#include "resources.hpp"

namespace byre::stress {

/// All runs of one workload.
struct SoakedWorkload {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t operations = 0;
  std::uint64_t faults = 0;
  std::uint64_t delays = 0;
};

struct Soak {
  std::uint64_t seed = 0;
  double seconds = 0;
  std::uint64_t rotations = 0;  ///< complete ones
  std::vector<SoakedWorkload> workloads;
  Resources at_start;  ///< after the first rotation, when everything has been used once
  Resources at_end;
  std::vector<std::string> failures;  ///< with the command that repeats them; and growth
};

/// At least two rotations, unless the user ends it; for the duration of the settings in all. With `operations` it is
/// exactly two, of so many each. The first failure ends it. Throws as the workloads do.
Soak soak(const Settings& settings);

/// One page.
std::string text_of(const Soak& soak);

}  // namespace byre::stress
