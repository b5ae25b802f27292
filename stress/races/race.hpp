// SPDX-License-Identifier: BSL-1.0
/// Races: small programs in which threads access shared data at once, round after round. The
/// outcome of a round is known exactly: copies, bytes, allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "../programs/trace.hpp"
#include "../settings.hpp"

namespace byre::stress {

namespace races {

/// Numbers of operations of one thread, or of all threads.
struct RaceCounts {
  std::uint64_t clones = 0;
  std::uint64_t copied = 0;
  std::uint64_t stole = 0;
  std::uint64_t unique = 0;
  std::uint64_t drops = 0;
  std::uint64_t logged = 0;  ///< operations of histories

  /// Writers that kept the data that they shared.
  std::uint64_t kept() const noexcept { return stole + unique; }
  std::uint64_t operations() const noexcept { return clones + copied + kept() + drops + logged; }
  RaceCounts& operator+=(const RaceCounts& other) noexcept;
};

}  // namespace races

struct RaceResult {
  std::uint64_t rounds = 0;  ///< rounds that began; a failed round is the last
  races::RaceCounts counts;
  std::uint64_t delays = 0;           ///< delays by perturbation; set at the end
  std::vector<std::string> failures;  ///< failures of the round that ended the race
  Figures figures;                    ///< of histories; set at the end
};

struct RaceSettings {
  std::uint64_t seed = 1;
  unsigned threads = 4;  ///< from least_race_threads to most_threads
  std::uint64_t rounds = 1000;
  std::size_t nbytes = 256;      ///< size of each buffer, at least 1
  bool repeats_history = false;  ///< histories only: each history has the seed `seed`
  Perturbation perturbation{};   ///< if none, the race uses sync::Default, else Perturbed
  std::stop_token stop{};        ///< ends the race after the current round
  std::function<void(const RaceResult&)>
      after_round{};              ///< called with the result so far; must not throw
  programs::Log* logs = nullptr;  ///< one log for each thread; may be null
};

/// A race: a scenario and its name. While a race runs, no other code in the process may use byre,
/// because the counters are global.
struct Race {
  /// Throws std::invalid_argument if a setting is out of range, and std::system_error if a thread
  /// cannot be started.
  using Run = RaceResult (*)(const RaceSettings&);

  std::string_view name;
  std::string_view shows;
  Run run;
};

std::span<const Race> all_races();

}  // namespace byre::stress
