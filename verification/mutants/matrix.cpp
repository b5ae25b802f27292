// SPDX-License-Identifier: BSL-1.0
#include "matrix.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "document.hpp"
#include "equivalents.hpp"
#include "kill.hpp"
#include "pairs.hpp"
#include "right_verdicts.hpp"
#include "support/json.hpp"

namespace byre::verification {
namespace {

const Equivalent* argument_for(const Mutation& mutation) {
  const std::string name = mutation.name();
  const auto* found = std::ranges::find(equivalents, name, &Equivalent::mutant);
  return found == std::end(equivalents) ? nullptr : found;
}

std::vector<Mutation> mutations_with(const std::vector<AdjacentSteps>& adjacent) {
  std::vector<Mutation> mutations = all_mutations();
  std::ranges::copy(swaps_of(adjacent), std::back_inserter(mutations));
  return mutations;
}

std::string text_of(const Kill& kill) {
  return std::string(kill.scenario->name) + ": " + std::string(to_string(kill.verdict)) +
         ", bound " + kill.bound.name() + ", execution " + std::to_string(kill.execution);
}

std::string summary(const std::vector<MutantOutcome>& outcomes) {
  const auto killed = std::ranges::count_if(outcomes, &MutantOutcome::is_killed);
  const auto equivalent = std::ranges::count_if(outcomes, [](const MutantOutcome& outcome) {
    return !outcome.is_killed() && argument_for(outcome.mutation) != nullptr;
  });
  return std::to_string(outcomes.size()) + " mutants: " + std::to_string(killed) + " killed, " +
         std::to_string(equivalent) + " equivalent, " +
         std::to_string(static_cast<std::ptrdiff_t>(outcomes.size()) - killed - equivalent) +
         " survived";
}

std::string verdict_rules() {
  Table table({"mistake", "is killed by"});
  for (const RightVerdicts& row : right_verdicts) {
    std::string verdicts;
    for (const Verdict verdict : row.verdicts) {
      verdicts += (verdicts.empty() ? "" : ", ") + std::string(to_string(verdict));
    }
    table.add({std::string(row.mistake), verdicts});
  }
  return table.text();
}

std::string matrix(const std::vector<MutantOutcome>& outcomes) {
  Table table({"mutant", "scenario", "verdict", "bound", "execution"});
  for (const MutantOutcome& outcome : outcomes) {
    for (const Kill& kill : outcome.kills) {
      table.add({code(outcome.mutation.name()), std::string(kill.scenario->name),
                 std::string(to_string(kill.verdict)), kill.bound.name(),
                 std::to_string(kill.execution)});
    }
  }
  return table.text();
}

std::string arguments(const std::vector<MutantOutcome>& outcomes) {
  Table table({"mutant", "changes nothing, because"});
  for (const MutantOutcome& outcome : outcomes) {
    if (const Equivalent* argument = argument_for(outcome.mutation)) {
      table.add({code(argument->mutant), std::string(argument->because)});
    }
  }
  return table.text();
}

std::string pairs(const std::vector<AdjacentSteps>& adjacent) {
  Table table({"step", "next step", "swapped"});
  for (const AdjacentSteps& steps : adjacent) {
    table.add({code(steps.first->name), code(steps.second->name),
               steps.not_swapped.empty() ? "a mutant" : "no: " + std::string(steps.not_swapped)});
  }
  return table.text();
}

constexpr const char* introduction = R"(`, and checked by a test.

Every step and every number of the protocols is a row of a table in core, and each row is done wrong in
every way there is. The order of a step is weakened by one; its one atomic step is made two, or left out;
its operand, or a number, is off by one; a bit or a unit is zero; and a step is swapped with the one that
follows it. A lock is left out with the unlock that ends it, an unlock by itself. A scenario has to notice
each of these mutants, by a verdict that its kind of mistake leads to. The searches are the same every
time: by preemption bounds from 0 on, with a limit of executions.

)";
constexpr const char* adjacent_steps = R"(
## Adjacent steps

Which steps follow each other within one operation, as seen by running them.

)";
constexpr const char* conclusion = R"(
## What has no mutants

`sync::max_count` is far from what any program reaches, and farther from the next field: one more or less
is as good a limit. The spin limit is the Sync's own, not the protocol's; scenarios run with more than one.
)";

std::string document(const std::vector<MutantOutcome>& outcomes,
                     const std::vector<AdjacentSteps>& adjacent, bool deep) {
  return "# Mutants\n\nPrinted by `byre-verify --mutants" + std::string(deep ? " --deep" : "") +
         introduction + summary(outcomes) + ".\n\n## What counts\n\n" + verdict_rules() +
         "\n## The kill matrix\n\n" +
         (deep ? "Every scenario that notices.\n\n" : "The first scenario that notices.\n\n") +
         matrix(outcomes) + "\n## Equivalent mutants\n\n" + arguments(outcomes) + adjacent_steps +
         pairs(adjacent) + conclusion;
}

/// What is wrong with the outcomes, said on stderr.
bool is_good(const std::vector<MutantOutcome>& outcomes) {
  bool good = true;
  const auto complain = [&](const std::string& text) {
    std::fprintf(stderr, "FAILED: %s\n", text.c_str());
    good = false;
  };
  for (const MutantOutcome& outcome : outcomes) {
    const std::string name = outcome.mutation.name();
    const Equivalent* argument = argument_for(outcome.mutation);
    if (outcome.is_killed() && argument != nullptr) {
      complain(name + " is argued to be equivalent, and is killed by " +
               text_of(outcome.kills.front()));
    }
    if (!outcome.is_killed() && argument == nullptr) {
      complain(name + (outcome.has_crashed ? " brings the search down" : " survives"));
      for (const Kill& wrong : outcome.wrong) {
        std::fprintf(stderr, "  by the wrong verdict: %s\n", text_of(wrong).c_str());
      }
    }
  }
  for (const Equivalent& argument : equivalents) {
    if (std::ranges::none_of(outcomes, [&](const MutantOutcome& outcome) {
          return outcome.mutation.name() == argument.mutant;
        })) {
      complain("there is an argument for " + std::string(argument.mutant) + ", and no such mutant");
    }
  }
  return good;
}

/// What fails without a mutant notices none.
bool nothing_fails_unchanged(const MutantOutcome& unchanged) {
  for (const Kill& failure : unchanged.wrong) {
    std::fprintf(stderr, "FAILED: without a mutant, %s\n", text_of(failure).c_str());
  }
  return unchanged.wrong.empty() && !unchanged.has_crashed;
}

test::Json figures_of(const std::vector<MutantOutcome>& outcomes) {
  test::Json rows = test::Json::array();
  for (const MutantOutcome& outcome : outcomes) {
    test::Json kills = test::Json::array();
    for (const Kill& kill : outcome.kills) {
      kills.push_back({{"scenario", kill.scenario->name},
                       {"verdict", to_string(kill.verdict)},
                       {"bound", kill.bound.name()},
                       {"execution", kill.execution}});
    }
    rows.push_back({{"mutant", outcome.mutation.name()},
                    {"outcome", outcome.is_killed()              ? "killed"
                                : argument_for(outcome.mutation) ? "equivalent"
                                                                 : "survived"},
                    {"kills", kills}});
  }
  return rows;
}

}  // namespace

int run_mutants(const Options& options) {
  test::JsonOutput json(options.json_file);
  const std::vector<AdjacentSteps> adjacent = observe_adjacent_steps();
  std::vector<Mutation> mutations = mutations_with(adjacent);
  mutations.insert(mutations.begin(), Mutation{});
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  std::size_t ended = 0;
  const DetectionRun run{
      .efforts = options.deep ? std::span<const Effort>(deep_efforts) : quick_efforts,
      .stops_at_first = !options.deep,
      .at_once = options.jobs,
      .ended = [&](const MutantOutcome& outcome) {
        ++ended;
        if (is_terminal) {
          std::fprintf(stderr, "\r\033[K%zu of %zu  %s%s", ended, mutations.size(),
                       outcome.mutation.name().c_str(),
                       ended == mutations.size() ? "\r\033[K" : "");
        }
      }};
  std::vector<MutantOutcome> outcomes = kill(mutations, run);
  const bool is_sound = nothing_fails_unchanged(outcomes.front());
  outcomes.erase(outcomes.begin());
  const bool good = is_good(outcomes) && is_sound;
  json.write(figures_of(outcomes));
  std::fprintf(stderr, "%s\n", summary(outcomes).c_str());
  return print_or_check(document(outcomes, adjacent, options.deep), options.file_to_check,
                        "--mutants") &&
                 good
             ? 0
             : 1;
}

}  // namespace byre::verification
