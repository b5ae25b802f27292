// SPDX-License-Identifier: BSL-1.0
/// What the runner knows of a scenario, and what it asks of one. Nothing here needs the checker.
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

/// How far executions are searched: all of them; or one of each set that differs only in the order of
/// independent steps; or those with at most so many preemptions, which are switches away from a
/// thread that could have gone on.
struct Bound {
  static constexpr unsigned none = ~0U;
  static constexpr unsigned reduced = none - 1;
  unsigned preemptions;

  constexpr Bound(unsigned most = none) : preemptions(most) {}
  bool is_full() const noexcept { return preemptions >= reduced; }
  bool is_reduced() const noexcept { return preemptions == reduced; }
  /// "full", "reduced", or the number.
  std::string name() const {
    return is_reduced() ? "reduced" : is_full() ? "full" : std::to_string(preemptions);
  }
  friend bool operator==(Bound, Bound) = default;
};
inline constexpr Bound full_search{};
inline constexpr Bound reduced_search{Bound::reduced};

/// What is asked of one search.
struct Search {
  Bound bound;
  std::uint64_t most_executions = ~std::uint64_t{0};
  std::chrono::seconds longest{3600};
  std::string state = {};  ///< begin at this execution; see SearchResult::state
};

struct Scenario;

/// What came of it.
struct SearchResult {
  Verdict verdict = Verdict::unknown;
  std::string message = {};  ///< what failed
  std::uint64_t executions = 0;
  double seconds = 0;
  std::string state = {};             ///< of the failing execution
  std::uint64_t programs = 0;         ///< that passed, where a scenario searches many
  std::uint64_t unbounded = 0;        ///< of those, searched without a bound on preemptions
  const Scenario* failing = nullptr;  ///< the one of those that did not
};

struct Scenario {
  std::string_view name;
  std::string_view shows;  ///< one sentence; which promise or invariant
  unsigned threads = 0;
  Bound quick = full_search;
  Bound deep = full_search;
  Verdict expected = Verdict::pass;
  /// States that some execution has to reach, by cover() of the same text.
  std::span<const std::string_view> cover;
  std::function<SearchResult(const Search&)> search;
  /// Of a family of small programs: each of them, to be searched by itself.
  std::function<std::vector<const Scenario*>()> parts = nullptr;
};

/// Lists a scenario; by the initialization of a variable, before main.
const Scenario& register_scenario(const Scenario& scenario);

/// All that are listed, by name.
std::vector<const Scenario*> all_scenarios();

/// One program by its name, "write; drop | clone-write", as a scenario of that name; or null.
const Scenario* find_program(const std::string& name);

/// From failing a scenario: this state was reached.
void cover(std::string_view state) noexcept;
inline void cover_if(bool is_reached, std::string_view state) noexcept {
  if (is_reached) {
    cover(state);
  }
}
bool is_covered(std::string_view state) noexcept;

}  // namespace byre::verification
