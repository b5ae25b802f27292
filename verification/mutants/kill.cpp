// SPDX-License-Identifier: BSL-1.0
#include "kill.hpp"

#include <algorithm>
#include <sstream>

#include "../relacy/checked.hpp"
#include "../runner/job.hpp"
#include "../runner/options.hpp"
#include "right_verdicts.hpp"

namespace byre::verification {
namespace {

/// As a word of its own.
bool names(std::string_view text, std::string_view name) {
  const auto is_letter = [](char character) {
    return (character >= 'a' && character <= 'z') || character == '_';
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::string_view rest = text.substr(at + name.size());
    if ((at == 0 || !is_letter(text[at - 1])) && (rest.empty() || !is_letter(rest.front()))) {
      return true;
    }
  }
  return false;
}

/// Litmus tests are about the checker, and generated programs say less of what is wrong.
bool is_written_by_hand(const Scenario& scenario) {
  return !scenario.name.starts_with("litmus.") && !scenario.name.starts_with("programs.");
}

/// The tables name for each step what fails without it: first come those scenarios.
std::vector<const Scenario*> in_likely_order(const Mutation& mutation, bool only_named) {
  std::vector<const Scenario*> scenarios;
  std::ranges::copy_if(
      all_scenarios(), std::back_inserter(scenarios), [](const Scenario* scenario) {
        return scenario->expected == Verdict::pass && is_written_by_hand(*scenario);
      });
  const std::string_view breaks = mutation.site != nullptr ? mutation.site->breaks : "";
  // Not that of std::ranges: clang 14 does not compile libstdc++'s.
  const auto others = std::stable_partition(
      scenarios.begin(), scenarios.end(),
      [&](const Scenario* scenario) { return names(breaks, scenario->name); });
  if (only_named) {
    scenarios.erase(others, scenarios.end());
  }
  return scenarios;
}

void detect(const Mutation& mutation, const DetectionRun& run, int output) {
  prepare_searches();
  active_mutation = mutation;
  std::vector<const Scenario*> scenarios = in_likely_order(mutation, run.only_named);
  for (const Effort& effort : run.efforts) {
    std::vector<const Scenario*> left;
    for (const Scenario* scenario : scenarios) {
      Search search{.bound = effort.bound};
      search.most_executions = effort.executions;
      forget_reached();
      Checked::spin_limit = 0;  // some scenarios set it
      const Found found = scenario->search(search);
      if (!is_failure(found.verdict) && found.verdict != Verdict::checker_error) {
        // Who never comes to the mistake cannot notice it.
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
      if (right && run.stops_at_first) {
        return;
      }
    }
    scenarios = left;
  }
}

void take_line(const std::string& text, MutantOutcome& outcome) {
  std::istringstream line(text);
  char kind = 0;
  std::string scenario;
  std::string verdict;
  Kill kill;
  line >> kind >> scenario >> kill.bound.preemptions >> kill.execution >> std::ws;
  std::getline(line, verdict);
  kill.scenario = &find_scenario(scenario);
  kill.verdict = verdict_of(verdict).value_or(Verdict::crash);
  (kind == 'K' ? outcome.kills : outcome.wrong).push_back(kill);
}

}  // namespace

std::vector<MutantOutcome> kill(const std::vector<Mutation>& mutations, const DetectionRun& run) {
  std::vector<MutantOutcome> outcomes(mutations.size());
  for (std::size_t number = 0; number < mutations.size(); ++number) {
    outcomes[number].mutation = mutations[number];
  }
  test::run_in_children(
      mutations.size(), run.at_once,
      {.work = [&](std::size_t number, int output) { detect(mutations[number], run, output); },
       .line = [&](std::size_t number,
                   const std::string& line) { take_line(line, outcomes[number]); },
       .ended =
           [&](std::size_t number, test::Exit exit) {
             outcomes[number].has_crashed = !exit.is_success();
             run.ended(outcomes[number]);
           }});
  return outcomes;
}

}  // namespace byre::verification
