// SPDX-License-Identifier: BSL-1.0
/// The interface of a scenario to the runner: its name, its bounds, and a function that searches
/// it. This header does not need the model checker.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verdict.hpp"

namespace byre::verification {

/// How far a scenario is searched:
/// - full: every execution;
/// - reduced: one execution of each set of executions that differ only in the order of independent
///   steps;
/// - a number: every execution with at most that many preemptions. A preemption is a switch away
///   from a thread that could have continued.
struct Bound {
  static constexpr unsigned none = ~0U;
  static constexpr unsigned reduced = none - 1;
  unsigned preemptions;

  constexpr Bound(unsigned most = none) : preemptions(most) {}
  bool is_full() const noexcept { return preemptions >= reduced; }
  bool is_reduced() const noexcept { return preemptions == reduced; }
  std::string name() const {
    return is_reduced() ? "reduced" : is_full() ? "full" : std::to_string(preemptions);
  }
  friend bool operator==(Bound, Bound) = default;
};
inline constexpr Bound full_search{};
inline constexpr Bound reduced_search{Bound::reduced};

/// The limits of one search.
struct Search {
  Bound bound;
  std::uint64_t most_executions = ~std::uint64_t{0};
  std::chrono::seconds longest{3600};
  std::string state = {};  ///< start at this execution; see SearchResult::state
};

struct Scenario;

/// The outcome of one search.
struct SearchResult {
  Verdict verdict = Verdict::unknown;
  std::string message = {};  ///< the failed expectation, or empty
  std::uint64_t executions = 0;
  double seconds = 0;
  std::string state = {};      ///< identifies the failing execution
  std::uint64_t programs = 0;  ///< in a family: programs that passed
  /// in a family: programs that passed without a bound on preemptions
  std::uint64_t unbounded = 0;
  const Scenario* failing = nullptr;  ///< in a family: the program that failed
};

struct Scenario {
  std::string_view name;
  std::string_view shows;  ///< a sentence that names the promises or invariants that are shown
  unsigned threads = 0;
  Bound quick = full_search;
  Bound deep = full_search;
  Verdict expected = Verdict::pass;
  /// States that some execution has to reach. When the body reaches one, it calls cover() with the
  /// text of that state.
  std::span<const std::string_view> cover;
  std::function<SearchResult(const Search&)> search;
  /// For a family of small programs: returns its programs, to be searched one by one. Else null.
  std::function<std::vector<const Scenario*>()> parts = nullptr;
};

/// Adds a scenario to all_scenarios(). Called before main, by initializers of variables. Aborts if
/// another scenario has this name.
const Scenario& register_scenario(const Scenario& scenario);

/// All registered scenarios, sorted by name.
std::vector<const Scenario*> all_scenarios();

/// The scenario of the small program `name`, e.g. "write; drop | clone-write"; null if no
/// program has this name.
const Scenario* find_program(const std::string& name);

/// Called from a scenario: an execution has reached `state`.
void cover(std::string_view state) noexcept;
inline void cover_if(bool is_reached, std::string_view state) noexcept {
  if (is_reached) {
    cover(state);
  }
}
bool is_covered(std::string_view state) noexcept;

}  // namespace byre::verification
