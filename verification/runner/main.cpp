// SPDX-License-Identifier: BSL-1.0
/// byre-verify: runs the scenarios.
#include <algorithm>
#include <cstdio>

#include "../mutants/mutants.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "report.hpp"
#include "support/json.hpp"

namespace byre::verification {
namespace {

std::vector<Job> jobs_of(const Options& options) {
  const auto scenarios = options.scenarios.empty() ? all_scenarios() : options.scenarios;
  std::vector<Job> jobs;
  for (const Scenario* scenario : scenarios) {
    // A known-wrong design fails with or without a mutant.
    if (!options.mutation.is_none() && scenario->expected != Verdict::pass) {
      continue;
    }
    Job job;
    job.scenario = scenario;
    job.mutation = options.mutation;
    job.search.bound = options.bound.value_or(options.deep ? scenario->deep : scenario->quick);
    job.search.most_executions = options.executions;
    job.search.longest = std::chrono::seconds(options.seconds);
    if (!options.deep || !scenario->parts) {
      jobs.push_back(job);
      continue;
    }
    job.family = scenario;
    for (const Scenario* part : scenario->parts()) {
      job.scenario = part;
      jobs.push_back(job);
    }
  }
  if (jobs.empty()) {
    throw UsageError("--mutant is for scenarios that pass without one; " +
                     std::string(scenarios.front()->name) + " fails as it should");
  }
  return jobs;
}

void print_list() {
  for (const Scenario* scenario : all_scenarios()) {
    std::printf(
        "%s: %u threads, bound %s, deep %s, %s\n  %s\n", std::string(scenario->name).c_str(),
        scenario->threads, scenario->quick.name().c_str(), scenario->deep.name().c_str(),
        std::string(to_string(scenario->expected)).c_str(), std::string(scenario->shows).c_str());
  }
}

int replay(const Options& options) {
  const Job job = parse_replay(options.replay);
  const Result result = run({job}, 1, [](const Result&) {}).front();
  if (!is_failure(result.found.verdict) || result.replay != options.replay) {
    throw UsageError(
        "stale replay string: that execution does not fail, or makes other choices, so the program "
        "is not the one that printed it; look for the failure again: byre-verify --scenario '" +
        std::string(job.scenario->name) + "' --bound " + job.search.bound.name());
  }
  std::printf("%s: %s\n%s", std::string(job.scenario->name).c_str(),
              std::string(to_string(result.found.verdict)).c_str(), result.trace.c_str());
  return 0;
}

/// Unchanged code: everything as expected, and every row of core's tables reached by a full run. A
/// mutant: killed by some scenario.
bool is_good(const Options& options, const std::vector<Result>& results) {
  if (!options.mutation.is_none()) {
    return std::ranges::any_of(results, &Result::is_as_expected);
  }
  bool good = std::ranges::all_of(results, &Result::is_as_expected);
  if (options.scenarios.empty()) {
    for (const std::string& site : unreached_sites(results)) {
      std::printf("FAILED: no scenario reaches %s\n", site.c_str());
      good = false;
    }
  }
  return good;
}

int run_scenarios(const Options& options) {
  test::JsonOutput json(options.json_file);
  const std::vector<Job> jobs = jobs_of(options);
  std::optional<Journal> journal;
  if (options.journal) {
    journal.emplace(*options.journal);
  }
  const std::vector<Result> results =
      by_family(run(jobs, options.jobs, report(jobs.size()), journal ? &*journal : nullptr));
  print(results);
  json.write(figures_of(results));
  return is_good(options, results) ? 0 : 1;
}

int main(int argument_count, char** arguments) {
  const Options options = parse_options(argument_count, arguments);
  if (options.mode == "mutants") {
    return run_mutants(options.jobs);
  }
  if (options.mode == "replay") {
    return replay(options);
  }
  if (options.mode.empty()) {
    return run_scenarios(options);
  }
  options.mode == "list"      ? print_list()
  : options.mode == "explain" ? explain()
                              : static_cast<void>(std::printf("%s", usage().c_str()));
  return 0;
}

}  // namespace
}  // namespace byre::verification

int main(int argument_count, char** arguments) {
  return byre::test::run_main("byre-verify",
                              [&] { return byre::verification::main(argument_count, arguments); });
}
