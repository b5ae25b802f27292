// SPDX-License-Identifier: BSL-1.0
/// Races: small programs in which the same threads meet at the same data again and again, and of
/// which is known exactly what has to come out: how many copies, which bytes, how many allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "steps.hpp"

namespace byre::stress {

struct RaceResult {
  std::uint64_t rounds = 0;      ///< begun; the last one failed if any did
  std::uint64_t operations = 0;  ///< clones, writes and drops that raced
  std::uint64_t lazy_clones = 0;
  std::uint64_t copies = 0;
  std::uint64_t steals = 0;
  std::uint64_t writes_in_place = 0;  ///< by who found itself alone
  std::uint64_t delays = 0;           ///< windows that were opened; known at the end
  std::vector<std::string> failures;  ///< of the first round that failed: the race ends with it
};

struct RaceSettings {
  static constexpr unsigned least_threads = 2;
  static constexpr unsigned most_threads = 64;

  std::uint64_t seed = 1;
  unsigned threads = 4;  ///< from least_threads to most_threads
  std::uint64_t rounds = 1000;
  std::size_t nbytes = 256;     ///< of each buffer, at least 1
  Perturbation perturbation{};  ///< none: the race runs on sync::Boost, or else on Perturbed
  std::stop_token stop{};       ///< ends the race after the round under way
  std::function<void(const RaceResult&)> after_round{};  ///< what came of it so far; does not throw
  races::Steps* steps = nullptr;  ///< of as many threads: told what each does, for who looks on
};

/// One story, over both forms of the protocol. While it runs, nothing else of the program may use
/// byre: the counters are the process's.
struct Race {
  using Run = RaceResult (*)(const RaceSettings&);

  std::string_view name;
  std::string_view shows;
  Run run;           ///< with basic_share_word: what ships
  Run run_textbook;  ///< with basic_share_lock
};

/// Their runs throw std::invalid_argument for settings out of range, and boost::thread_resource_error
/// where threads cannot be had.
std::span<const Race> all_races();

}  // namespace byre::stress
