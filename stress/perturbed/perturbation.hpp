// SPDX-License-Identifier: BSL-1.0
/// Perturbation: how often the threads of a run are delayed, and for how long.
#pragma once

#include <chrono>
#include <cstdint>

namespace byre::stress {

/// The chances are per window, in [0, 1], and exclude
/// each other: their sum is at most 1.
struct Perturbation {
  double yields = 0;                          ///< of the time slice
  double pauses = 0;                          ///< of the processor, from 1 to most_pauses of them
  double sleeps = 0;                          ///< for up to longest_sleep
  double spurious = 0;                        ///< failures of a compare-exchange, and wakes of a
                                              ///< sleeper
  std::uint32_t most_pauses = 0;              ///< some 10 to 50 ns each
  std::chrono::microseconds longest_sleep{};  ///< the system adds some 50 us

  friend bool operator==(const Perturbation&, const Perturbation&) = default;
};

inline constexpr Perturbation no_perturbation{};

/// Most delays are as long as the protocol's windows; a few are as long as a time slice.
inline constexpr Perturbation usual_perturbation{
    .yields = 0.02,
    .pauses = 0.1,
    .sleeps = 0.005,
    .spurious = 0.1,
    .most_pauses = 200,
    .longest_sleep = std::chrono::microseconds(100),
};

/// A seed for each thread of a run.
constexpr std::uint64_t seed_of_thread(std::uint64_t seed, std::uint64_t thread) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  return seed + (thread + 1) * golden_ratio;
}

}  // namespace byre::stress
