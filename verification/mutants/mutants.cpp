// SPDX-License-Identifier: BSL-1.0
#include "mutants.hpp"

#include <algorithm>
#include <cstdio>

#include "../runner/job.hpp"

namespace byre::verification {
namespace {

struct Outcome {
  Mutation mutation;
  std::string killed_by;                ///< the first scenario with an expected verdict
  std::vector<std::string> unexpected;  ///< scenarios with another verdict
  bool has_crashed = false;

  /// For a mutant: true if it was killed. For unchanged code: true if no scenario failed.
  bool is_good() const noexcept {
    return !has_crashed && (mutation.is_none() ? unexpected.empty() : !killed_by.empty());
  }
};

/// The limits of successive searches: while the mutant survives, the next search has larger limits.
/// They count executions, not seconds, so the outcome is equal on every machine.
struct Effort {
  Bound bound;
  std::uint64_t executions;
};
constexpr Effort efforts[] = {{0, 500}, {1, 2'000}, {2, 10'000}, {3, 30'000}};

SearchResult search(const Scenario& scenario, const Effort& effort) {
  Search search{.bound = effort.bound};
  search.most_executions = effort.executions;
  forget_reached();
  return scenario.search(search);
}

/// The scenarios that may kill mutants. Scenarios whose first executions reach the mutated step
/// come first. Litmus tests are skipped, since they test the checker. Generated small programs are
/// skipped, so that a hand-written scenario has to kill each mutant: the description of such a
/// scenario names the promise or invariant that the mutant breaks.
std::vector<const Scenario*> in_likely_order(const Mutation& mutation) {
  std::vector<const Scenario*> likely;
  std::vector<const Scenario*> others;
  for (const Scenario* scenario : all_scenarios()) {
    if (scenario->expected != Verdict::pass || scenario->name.starts_with("litmus.") ||
        scenario->name.starts_with("programs.") || scenario->name.starts_with("reference.")) {
      continue;
    }
    static_cast<void>(search(*scenario, {0, 20}));
    (is_reached(mutation) ? likely : others).push_back(scenario);
  }
  likely.insert(likely.end(), others.begin(), others.end());
  return likely;
}

void detect(const Mutation& mutation, int output) {
  prepare_searches();
  std::vector<const Scenario*> scenarios = in_likely_order(mutation);
  active_mutation = mutation;
  for (const Effort& effort : efforts) {
    std::vector<const Scenario*> left;
    for (const Scenario* scenario : scenarios) {
      const SearchResult found = search(*scenario, effort);
      if (!is_failure(found.verdict) && found.verdict != Verdict::checker_error) {
        // If a search with two preemptions does not execute the mutated step, later searches skip
        // the scenario, since it cannot kill the mutant.
        if (is_reached(mutation) || effort.bound.preemptions < 2) {
          left.push_back(scenario);
        }
        continue;
      }
      const bool is_kill = is_expected(mutation, found.verdict);
      test::write_all(output, (is_kill ? 'K' : 'W') + std::string(scenario->name) + ": " +
                                  std::string(to_string(found.verdict)) + ", bound " +
                                  effort.bound.name() + ", execution " +
                                  std::to_string(found.executions) + '\n');
      if (is_kill) {
        return;
      }
    }
    scenarios = left;
  }
}

/// Returns the outcomes in the order of the mutants.
std::vector<Outcome> detect_all(const std::vector<Mutation>& mutations, unsigned at_once) {
  std::vector<Outcome> outcomes(mutations.size());
  test::run_in_children(
      mutations.size(), at_once,
      {.work = [&](std::size_t number, int output) { detect(mutations[number], output); },
       .line =
           [&](std::size_t number, const std::string& line) {
             (line[0] == 'K' ? outcomes[number].killed_by
                             : outcomes[number].unexpected.emplace_back()) = line.substr(1);
           },
       .ended =
           [&](std::size_t number, test::Exit exit) {
             outcomes[number].mutation = mutations[number];
             outcomes[number].has_crashed = !exit.is_success();
           }});
  return outcomes;
}

void print(const Outcome& outcome) {
  const std::string name = outcome.mutation.name();
  if (outcome.is_good()) {
    std::printf("%-36s %s\n", name.c_str(), outcome.killed_by.c_str());
    return;
  }
  std::printf("FAILED: %s: %s\n", name.c_str(),
              outcome.has_crashed          ? "the search crashes"
              : outcome.mutation.is_none() ? "scenarios fail without a mutant"
                                           : "survives");
  for (const std::string& failure : outcome.unexpected) {
    std::printf("  unexpected verdict: %s\n", failure.c_str());
  }
}

}  // namespace

int run_mutants(unsigned at_once) {
  std::vector<Mutation> mutations = all_mutations();
  mutations.insert(mutations.begin(), Mutation{});
  const std::vector<Outcome> outcomes = detect_all(mutations, at_once);
  for (const Outcome& outcome : outcomes) {
    print(outcome);
  }
  const auto killed = std::ranges::count_if(
      outcomes, [](const Outcome& outcome) { return !outcome.killed_by.empty(); });
  const auto count = static_cast<std::ptrdiff_t>(outcomes.size()) - 1;
  std::printf("%td mutants: %td killed, %td survived\n", count, killed, count - killed);
  return std::ranges::all_of(outcomes, &Outcome::is_good) ? 0 : 1;
}

void explain() {
  const std::vector<Mutation> mutations = all_mutations();
  const auto mutants_of = [&](const auto& is_of) {
    std::string text;
    for (const Mutation& mutation : mutations) {
      if (is_of(mutation)) {
        const std::string name = mutation.name();
        text += (text.empty() ? "" : ", ") + name.substr(name.find(':') + 1);
      }
    }
    return text.empty() ? "none" : text;
  };
  std::printf("%-32s %-17s %-8s %s\n", "step", "operation", "order", "mutants");
  for (const auto& table : site_tables()) {
    for (const sync::Site& site : table) {
      std::printf(
          "%-32s %-17s %-8s %s\n", std::string(site.name).c_str(),
          std::string(name_of(site.operation)).c_str(),
          std::string(site.operation >= sync::Operation::lock ? "its own" : name_of(site.order))
              .c_str(),
          mutants_of([&](const Mutation& mutation) { return mutation.site == &site; }).c_str());
    }
  }
  std::printf("\n%-32s %-17s %-8s %s\n", "number", "value", "", "mutants");
  for (const auto& table : constant_tables()) {
    for (const sync::Constant& constant : table) {
      std::printf("%-32s %#-17llx %-8s %s\n", std::string(constant.name).c_str(),
                  static_cast<unsigned long long>(constant.value), "",
                  mutants_of([&](const Mutation& mutation) {
                    return mutation.constant == &constant;
                  }).c_str());
    }
  }
}

}  // namespace byre::verification
