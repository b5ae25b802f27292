// SPDX-License-Identifier: BSL-1.0
/// A long run of everything: all workloads in turn, perturbed and not, with few and with many
/// threads, until the time is over; and whether anything was lost or grew meanwhile.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "../outcome.hpp"
#include "../report/console.hpp"
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
  std::vector<std::string> lost;  ///< failures, with what repeats them, and growth
};

/// Two rotations at least, unless it is ended early. Settings with `operations` make it exactly two,
/// of so many each. The first failure ends it. One at a time, by the thread of the console; throws as
/// the workloads do.
Soak soak(const Settings& settings, std::chrono::minutes duration, Console& console);

/// One page.
std::string text_of(const Soak& soak);
nlohmann::ordered_json json_of(const Soak& soak);

}  // namespace byre::stress
