// SPDX-License-Identifier: BSL-1.0
/// byre-verify: runs the scenarios.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "../mutants/matrix.hpp"
#include "../mutants/memory_orders.hpp"
#include "../mutants/pairs.hpp"
#include "../programs/programs.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "support/json.hpp"

namespace byre::verification {
namespace {

std::vector<Job> jobs_of(const Options& options) {
  std::vector<const Scenario*> scenarios = options.scenarios;
  if (scenarios.empty()) {
    scenarios.assign(all_scenarios().begin(), all_scenarios().end());
  }
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
  std::printf("\nmutants:\n");
  for (const auto& mutations : {all_mutations(), swaps_of(observe_adjacent_steps())}) {
    for (const Mutation& mutation : mutations) {
      std::printf("  %s\n", mutation.name().c_str());
    }
  }
}

/// What looks for a failure of that job anew.
std::string command_for(const Job& job) {
  return "byre-verify --scenario '" + std::string(job.scenario->name) + "' --bound " +
         job.search.bound.name() +
         (job.mutation.is_none() ? "" : " --mutant " + job.mutation.name());
}

std::string what_is_stale(const Result& result) {
  if (is_failure(result.found.verdict)) {
    return "fails, but makes other choices";
  }
  return result.found.verdict == Verdict::checker_error ? "cannot make these choices"
                                                        : "does not fail";
}

int replay(const Options& options) {
  const Job job = parse_replay(options.replay);
  const auto ignore = [](auto&&...) {};
  const Result result = run({job}, 1, {.ended = ignore, .progress = ignore}).front();
  if (!is_failure(result.found.verdict) || result.replay != options.replay) {
    throw UsageError("stale replay string: the execution that it asks for " +
                     what_is_stale(result) +
                     ", so the program is not the one that printed it, or the string was changed; "
                     "look for the failure anew: " +
                     command_for(job));
  }
  std::printf("%s: %s\n%s", std::string(job.scenario->name).c_str(),
              std::string(to_string(result.found.verdict)).c_str(), result.trace.c_str());
  return 0;
}

/// Unchanged code: everything as expected, and every row of core's tables reached by a full run. A
/// mutant: killed by somebody.
bool is_good(const Options& options, const std::vector<Result>& results) {
  const auto expected = [](const Result& result) { return result.is_as_expected(); };
  if (!options.mutation.is_none()) {
    return std::any_of(results.begin(), results.end(), expected);
  }
  bool good = std::all_of(results.begin(), results.end(), expected);
  if (options.scenarios.empty()) {
    for (const std::string& site : unreached_sites(results)) {
      std::printf("FAILED: no scenario reaches %s\n", site.c_str());
      good = false;
    }
  }
  return good;
}

std::vector<Result> search(const Options& options, const std::vector<Job>& jobs) {
  if (!options.journal) {
    Report report(jobs.size(), options.jobs);
    return run(jobs, options.jobs, report.listener());
  }
  Journal journal(*options.journal);
  const auto missing = static_cast<std::size_t>(
      std::ranges::count_if(jobs, [&](const Job& job) { return !journal.find(job); }));
  std::printf("%zu of %zu searches are in %s\n", jobs.size() - missing, jobs.size(),
              options.journal->c_str());
  Report report(missing, options.jobs);
  return run(jobs, options.jobs, report.listener(), journal);
}

int run_scenarios(const Options& options) {
  test::JsonOutput json(options.json_file);
  const std::vector<Job> jobs = jobs_of(options);
  const std::vector<Result> results = by_family(search(options, jobs));
  print(results);
  json.write(figures_of(results));
  return is_good(options, results) ? 0 : 1;
}

int main(int argument_count, char** arguments) {
  const Options options = parse_options(argument_count, arguments);
  // Before a long run, not after it.
  if (!options.file_to_check.empty() && (!std::filesystem::is_regular_file(options.file_to_check) ||
                                         !std::ifstream(options.file_to_check))) {
    throw std::runtime_error("cannot read " + options.file_to_check + " as a file");
  }
  switch (options.mode) {
    case Mode::help:
      std::printf("%s", usage().c_str());
      return 0;
    case Mode::list:
      print_list();
      return 0;
    case Mode::list_programs:
      print_programs();
      return 0;
    case Mode::mutants:
      return run_mutants(options);
    case Mode::memory_orders:
      return run_memory_orders(options);
    case Mode::replay:
      return replay(options);
    case Mode::run:
      break;
  }
  return run_scenarios(options);
}

}  // namespace
}  // namespace byre::verification

int main(int argument_count, char** arguments) {
  return byre::test::run_main("byre-verify",
                              [&] { return byre::verification::main(argument_count, arguments); });
}
