// SPDX-License-Identifier: BSL-1.0
#include "mutants.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "../runner/job.hpp"
#include "right_verdicts.hpp"
#include "support/json.hpp"

namespace byre::verification {
namespace {

/// One failure of a scenario under a mutant.
struct Kill {
  std::string scenario;
  std::string verdict;
  std::string bound;
  std::uint64_t execution = 0;  ///< the number of the one that failed

  std::string text() const {
    return scenario + ": " + verdict + ", bound " + bound + ", execution " +
           std::to_string(execution);
  }
};

struct Outcome {
  Mutation mutation;
  std::vector<Kill> kills;  ///< by a right verdict
  std::vector<Kill> wrong;  ///< by another: no kill
  bool has_crashed = false;

  bool is_killed() const noexcept { return !kills.empty() && !has_crashed; }
  /// Without a mutant no scenario fails.
  bool is_good() const noexcept {
    return mutation.is_none() ? wrong.empty() && !has_crashed : is_killed();
  }
};

/// How far each search goes, one after the other while the mutant survives. Executions, not
/// seconds, so that the outcome is the same on every machine.
struct Effort {
  Bound bound;
  std::uint64_t executions;
};
constexpr Effort quick_efforts[] = {{preemptions(0), 500},
                                    {preemptions(1), 2'000},
                                    {preemptions(2), 10'000},
                                    {preemptions(3), 30'000}};
constexpr Effort deep_efforts[] = {{preemptions(0), 500},
                                   {preemptions(1), 2'000},
                                   {preemptions(2), 20'000},
                                   {preemptions(3), 200'000},
                                   {preemptions(4), 1'000'000}};

Found search(const Scenario& scenario, const Effort& effort) {
  Search search{.bound = effort.bound};
  search.most_executions = effort.executions;
  forget_reached();
  return scenario.search(search);
}

/// Scenarios that take the mutant's step in their first executions come first. Litmus tests are about the checker, and
/// a small program explains a failure less well than a scenario.
std::vector<const Scenario*> in_likely_order(const Mutation& mutation) {
  std::vector<const Scenario*> likely;
  std::vector<const Scenario*> others;
  for (const Scenario* scenario : all_scenarios()) {
    if (scenario->expected != Verdict::pass || scenario->name.starts_with("litmus.") ||
        scenario->name.starts_with("programs.") || scenario->name.starts_with("reference.")) {
      continue;
    }
    static_cast<void>(search(*scenario, {preemptions(0), 20}));
    (is_reached(mutation) ? likely : others).push_back(scenario);
  }
  likely.insert(likely.end(), others.begin(), others.end());
  return likely;
}

void detect(const Mutation& mutation, const Options& options, int output) {
  prepare_searches();
  std::vector<const Scenario*> scenarios = in_likely_order(mutation);
  active_mutation = mutation;
  for (const Effort& effort :
       options.deep ? std::span<const Effort>(deep_efforts) : std::span(quick_efforts)) {
    std::vector<const Scenario*> left;
    for (const Scenario* scenario : scenarios) {
      const Found found = search(*scenario, effort);
      if (!is_failure(found.verdict) && found.verdict != Verdict::checker_error) {
        // A scenario that never takes the step cannot notice the mistake.
        if (is_reached(mutation) || effort.bound.preemptions < 2) {
          left.push_back(scenario);
        }
        continue;
      }
      const bool right = is_right(mutation, found.verdict);
      std::ostringstream line;
      line << (right ? 'K' : 'W') << ' ' << scenario->name << ' ' << effort.bound.preemptions << ' '
           << found.executions << ' ' << to_string(found.verdict) << '\n';
      test::write_all(output, line.str());
      if (right && !options.deep) {
        return;
      }
    }
    scenarios = left;
  }
}

void take_line(const std::string& text, Outcome& outcome) {
  std::istringstream line(text);
  char kind = 0;
  Kill kill;
  line >> kind >> kill.scenario >> kill.bound >> kill.execution >> std::ws;
  std::getline(line, kill.verdict);
  (kind == 'K' ? outcome.kills : outcome.wrong).push_back(kill);
}

/// In the order of the mutants.
std::vector<Outcome> detect_all(const std::vector<Mutation>& mutations, const Options& options) {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  std::size_t ended = 0;
  std::vector<Outcome> outcomes(mutations.size());
  test::run_in_children(
      mutations.size(), options.jobs,
      {.work = [&](std::size_t number, int output) { detect(mutations[number], options, output); },
       .line = [&](std::size_t number,
                   const std::string& line) { take_line(line, outcomes[number]); },
       .ended =
           [&](std::size_t number, test::Exit exit) {
             outcomes[number].mutation = mutations[number];
             outcomes[number].has_crashed = !exit.is_success();
             if (is_terminal) {
               std::fprintf(stderr, "\r\033[K%zu of %zu", ++ended, mutations.size());
             }
           }});
  if (is_terminal) {
    std::fprintf(stderr, "\r\033[K");
  }
  return outcomes;
}

void print(const Outcome& outcome) {
  const std::string name = outcome.mutation.name();
  for (const Kill& kill : outcome.kills) {
    std::printf("%-36s %s\n", name.c_str(), kill.text().c_str());
  }
  if (outcome.is_good()) {
    return;
  }
  std::printf("FAILED: %s %s\n", name.c_str(),
              outcome.has_crashed          ? "brings the search down"
              : outcome.mutation.is_none() ? "is no mutant, and scenarios fail"
                                           : "survives");
  for (const Kill& wrong : outcome.wrong) {
    std::printf("  by another verdict: %s\n", wrong.text().c_str());
  }
}

test::Json figures_of(const Outcome& outcome) {
  test::Json kills = test::Json::array();
  for (const Kill& kill : outcome.kills) {
    kills.push_back({{"scenario", kill.scenario},
                     {"verdict", kill.verdict},
                     {"bound", kill.bound},
                     {"execution", kill.execution}});
  }
  return {{"mutant", outcome.mutation.name()}, {"killed", outcome.is_killed()}, {"kills", kills}};
}

}  // namespace

int run_mutants(const Options& options) {
  test::JsonOutput json(options.json_file);
  std::vector<Mutation> mutations = all_mutations();
  mutations.insert(mutations.begin(), Mutation{});
  const std::vector<Outcome> outcomes = detect_all(mutations, options);
  test::Json figures = test::Json::array();
  for (const Outcome& outcome : outcomes) {
    print(outcome);
    if (!outcome.mutation.is_none()) {
      figures.push_back(figures_of(outcome));
    }
  }
  json.write(figures);
  const auto killed = std::ranges::count_if(outcomes, &Outcome::is_killed);
  std::printf("%zu mutants: %td killed, %td survived\n", figures.size(), killed,
              static_cast<std::ptrdiff_t>(figures.size()) - killed);
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
