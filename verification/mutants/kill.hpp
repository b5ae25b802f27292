// SPDX-License-Identifier: BSL-1.0
/// Which scenario notices a mutant, and after how many executions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../relacy/mutation.hpp"
#include "../scenario.hpp"

namespace byre::verification {

struct Kill {
  const Scenario* scenario = nullptr;
  Verdict verdict = Verdict::unknown;
  Bound bound;
  std::uint64_t execution = 0;  ///< the number of the one that failed
};

struct MutantOutcome {
  Mutation mutation;
  std::vector<Kill> kills;  ///< by the right verdict
  std::vector<Kill> wrong;  ///< by another: no kill
  bool has_crashed = false;

  bool is_killed() const noexcept { return !kills.empty() && !has_crashed; }
};

/// How far each search goes, one after the other while the mutant survives. Executions, not
/// seconds, so that the outcome is the same on every machine.
struct Effort {
  Bound bound;
  std::uint64_t executions;
};
inline constexpr Effort quick_efforts[] = {{preemptions(0), 500},
                                           {preemptions(1), 2'000},
                                           {preemptions(2), 10'000},
                                           {preemptions(3), 30'000}};
inline constexpr Effort deep_efforts[] = {{preemptions(0), 500},
                                          {preemptions(1), 2'000},
                                          {preemptions(2), 20'000},
                                          {preemptions(3), 200'000},
                                          {preemptions(4), 1'000'000}};

/// How a run looks for the scenarios that detect a mutant.
struct DetectionRun {
  std::span<const Effort> efforts = quick_efforts;
  bool stops_at_first = true;  ///< else it goes on to find all scenarios that kill
  bool only_named = false;     ///< only scenarios that the mutant's row names
  unsigned at_once = 2;
  std::function<void(const MutantOutcome&)> ended;
};

/// The outcomes are in the order of the mutants.
std::vector<MutantOutcome> kill(const std::vector<Mutation>& mutations, const DetectionRun& run);

}  // namespace byre::verification
