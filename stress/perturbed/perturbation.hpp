// SPDX-License-Identifier: BSL-1.0
/// Perturbation: how often the threads of a run are delayed, and for how long.
#pragma once

#include <chrono>
#include <cstdint>

namespace byre::stress {

/// Probabilities, from 0 to 1, of a delay in a window (the moment before or after an atomic step).
/// At most one delay happens per window, so the sum of yields, pauses and sleeps must be at most 1.
struct Perturbation {
  double yields = 0;              ///< chance to yield the time slice
  double pauses = 0;              ///< chance of 1 to most_pauses processor pauses
  double sleeps = 0;              ///< chance to sleep for up to longest_sleep
  double spurious = 0;            ///< chance that a compare-exchange fails or a sleeper wakes
                                  ///< spuriously
  std::uint32_t most_pauses = 0;  ///< each takes some 10 to 50 ns
  std::chrono::microseconds longest_sleep{};  ///< the system adds some 50 us

  friend bool operator==(const Perturbation&, const Perturbation&) = default;
};

inline constexpr Perturbation no_perturbation{};

/// Most of these delays are about as long as the critical sections of the protocol; a few are as
/// long as a time slice.
inline constexpr Perturbation usual_perturbation{
    .yields = 0.02,
    .pauses = 0.1,
    .sleeps = 0.005,
    .spurious = 0.1,
    .most_pauses = 200,
    .longest_sleep = std::chrono::microseconds(100),
};

/// The seed of a thread of a run.
constexpr std::uint64_t seed_of_thread(std::uint64_t seed, std::uint64_t thread) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  return seed + (thread + 1) * golden_ratio;
}

}  // namespace byre::stress
