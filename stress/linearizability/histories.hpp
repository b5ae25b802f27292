// SPDX-License-Identifier: BSL-1.0
/// Runs threads that record many short histories, and checks that each is linearizable.
#pragma once

#include <span>

#include "../races/race.hpp"
#include "trial.hpp"

namespace byre::stress::histories {

/// The number of histories in a round of a race. The threads check them after the round.
inline constexpr unsigned histories_of_round = 64;

/// The delays of perturbed histories, in place of those of RaceSettings, which are made for longer
/// programs: some delays in each history.
inline constexpr Perturbation history_perturbation{
    .yields = 0.005,
    .pauses = 0.03,
    .sleeps = 0.0002,
    .spurious = 0.05,
    .most_pauses = 100,
    .longest_sleep = std::chrono::microseconds(50),
};

/// Runs rounds of histories, each of a random subject. A history has 2 to 4 threads. History N of
/// seed S has the operations and delays of history 0 of seed S + N.
///
/// A history without an order fails the run, which ends after the round. A perturbed run of at
/// least 10 rounds also fails if no two operations overlap. (Without perturbation, a busy machine
/// may run the threads one after the other.) Throws the exceptions of Race::Run.
RaceResult run_histories(const RaceSettings& settings, std::span<const Subject> subjects);

/// One line for each operation on the object of the verdict, in the order of their starts: its
/// interval, and its place in the longest order that the search found.
std::vector<std::string> lines_of(const Trial& trial, const std::vector<Operation>& history,
                                  const Verdict& verdict);

}  // namespace byre::stress::histories

namespace byre::stress {

/// The races whose rounds are histories: of AtomicBuffer and AtomicStorage, of Buffer, and of
/// Storage.
std::span<const Race> all_histories();

}  // namespace byre::stress
