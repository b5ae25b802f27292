// SPDX-License-Identifier: BSL-1.0
/// Soak: a long run of all workloads in turn, perturbed and not, with few threads and with many; and whether
/// anything failed or grew meanwhile.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "../monitor.hpp"
#include "../outcome.hpp"
#include "resources.hpp"

namespace byre::stress {

/// All runs of one workload.
struct SoakedWorkload {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t operations = 0;
  std::uint64_t rounds = 0;  ///< of a race
  Counts counts{};
};

struct Soak {
  std::uint64_t seed = 0;
  double seconds = 0;
  std::uint64_t rotations = 0;  ///< complete ones
  std::vector<SoakedWorkload> workloads;
  Resources at_start;  ///< after the first rotation, when everything has been used once
  Resources at_end;
  std::uint64_t peak_nbytes = 0;
  std::vector<std::string> failures;  ///< with the command that repeats them; and growth
};

/// At least two rotations, unless the user ends it. With `operations` in the settings it is exactly two, of
/// so many each. The first failure ends it. By the thread of the console, one at a time. Throws as the
/// workloads do.
Soak soak(const Settings& settings, std::chrono::minutes duration, Monitor& monitor);

/// One page.
std::string text_of(const Soak& soak);
nlohmann::ordered_json json_of(const Soak& soak);

}  // namespace byre::stress
