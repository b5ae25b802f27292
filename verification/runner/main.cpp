// SPDX-License-Identifier: BSL-1.0
/// byre-verify: runs the scenarios.
#include <byre/files/output_file.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "../mutants/mutants.hpp"
#include "job.hpp"

namespace byre::verification {
namespace {

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("list", "list the scenarios and what each shows")
      .flag("explain", "list each step of core with its operation, order and mutants")
      .flag("mutants", "run every mutant; report which scenario kills it")
      .value("replay", "STRING", "replay one execution step by step; a failing run prints STRING")
      .values("scenario", "NAME",
              "search only this scenario, or a small program such as 'write; drop | clone-write'; "
              "may be repeated")
      .value("bound", "N",
             "search executions with at most N preemptions; 'full': all executions; 'reduced': "
             "one of those that differ only in the order of independent steps; overrides the "
             "scenarios' own bounds")
      .value("mutant", "NAME",
             "search with one wrong step or number of core, a mutant that --explain lists; report "
             "whether a scenario kills it")
      .flag("deep", "use the bounds of the long run, and search every small program separately")
      .value("journal", "FILE", "store completed searches in FILE, and skip searches that FILE has")
      .value("json", "FILE", "write the results to FILE, too")
      .value("jobs", "N", "number of concurrent searches (default: 2)")
      .value("seconds", "N", "time limit of one search (default: 600, with --deep 3600)")
      .value(
          "executions", "N",
          "limit of executions for one search; a search that hits a limit is unknown, never a pass")
      .flag("help", "print this text");
  line.mode("", {"scenario", "deep", "bound", "mutant", "json", "journal", "jobs", "seconds",
                 "executions"})
      .mode("help", {})
      .mode("list", {})
      .mode("mutants", {"jobs"})
      .mode("explain", {})
      .mode("replay", {});
  return line;
}

/// The value of a numeric option, at least 1, or `otherwise` if it was not given.
unsigned number_of(const test::GivenOptions& given, const char* name, unsigned otherwise) {
  return static_cast<unsigned>(given.number(name, 1, 1'000'000'000).value_or(otherwise));
}

const Scenario& find_scenario(const std::string& name) {
  for (const Scenario* scenario : all_scenarios()) {
    if (scenario->name == name) {
      return *scenario;
    }
  }
  if (const Scenario* const program = find_program(name)) {
    return *program;
  }
  throw UsageError(
      "unknown scenario '" + name +
      "'. Run --list for the names. A small program has two threads with up to two "
      "operations each, or three threads with one each, e.g. 'write; drop | clone-write'");
}

Mutation find_mutation(const std::string& name) {
  if (name == "none") {
    return {};
  }
  for (const Mutation& mutation : all_mutations()) {
    if (mutation.name() == name) {
      return mutation;
    }
  }
  throw UsageError("unknown mutant '" + name +
                   "'. Run --explain for the names: a step or number, a colon, and the mutant");
}

Bound parse_bound(const std::string& text) {
  return text == "full" ? full_search
         : text == "reduced"
             ? reduced_search
             : static_cast<unsigned>(test::parse_number("a bound other than 'full' or 'reduced'",
                                                        text, 0, 1'000'000'000));
}

std::string usage() {
  return "usage: byre-verify [options]\n\n"
         "Runs the shipped headers under a model checker and reports the verdicts. With --list,\n"
         "--explain, --mutants or --replay it does only what that option says.\n\n" +
         command_line().help() +
         "\nExit status: 0 if every search ended as expected, 1 if one did not, 2 for an invalid\n"
         "command line.\n";
}

Job parse_replay(const std::string& text) {
  const std::vector<std::string> parts = parts_of_replay_string(text);
  Job job;
  job.scenario = &find_scenario(parts[0]);
  job.mutation = find_mutation(parts[1]);
  job.search.bound = parse_bound(parts[2]);
  job.search.state = unpacked_state(parts[3]);
  job.search.most_executions = 1;
  job.is_replay = true;
  return job;
}

std::vector<Job> jobs_of(const test::GivenOptions& given) {
  const bool deep = given.has("deep");
  const auto bound = given.text("bound");
  std::vector<const Scenario*> scenarios;
  for (const std::string& name : given.texts("scenario")) {
    scenarios.push_back(&find_scenario(name));
  }
  Job job;
  job.mutation = find_mutation(given.text("mutant").value_or("none"));
  job.search.longest = std::chrono::seconds(number_of(given, "seconds", deep ? 3600 : 600));
  if (given.has("executions")) {
    job.search.most_executions = number_of(given, "executions", 1);
  }
  std::vector<Job> jobs;
  for (const Scenario* scenario : scenarios.empty() ? all_scenarios() : scenarios) {
    // A known-wrong design fails even without a mutant.
    if (!job.mutation.is_none() && scenario->expected != Verdict::pass) {
      continue;
    }
    job.search.bound = bound ? parse_bound(*bound) : deep ? scenario->deep : scenario->quick;
    job.family = deep && scenario->parts ? scenario : nullptr;
    for (const Scenario* part :
         job.family != nullptr ? scenario->parts() : std::vector<const Scenario*>{scenario}) {
      job.scenario = part;
      jobs.push_back(job);
    }
  }
  if (jobs.empty()) {
    throw UsageError(
        "cannot run a mutant of a known-wrong design: " + std::string(scenarios.front()->name) +
        " fails without a mutant. Choose a scenario that passes.");
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

int replay(const std::string& text) {
  const Job job = parse_replay(text);
  const Result result = run({job}, 1, [](const Result&) {}).front();
  if (!is_failure(result.found.verdict) || result.replay != text) {
    throw UsageError(
        "stale replay string: in this build the execution does not fail, or makes other choices. "
        "Search again: byre-verify --scenario '" +
        std::string(job.scenario->name) + "' --bound " + job.search.bound.name());
  }
  std::printf("%s: %s\n%s", std::string(job.scenario->name).c_str(),
              std::string(to_string(result.found.verdict)).c_str(), result.trace.c_str());
  return 0;
}

/// Without a mutant: true if every search ended as expected and, in a full run, every row of core's
/// tables was reached. With a mutant: true if some scenario killed it.
bool is_good(const std::vector<Result>& results, bool is_full) {
  if (!results.front().job.mutation.is_none()) {
    return std::ranges::any_of(results, &Result::is_as_expected);
  }
  bool good = std::ranges::all_of(results, &Result::is_as_expected);
  if (is_full) {
    for (const std::string& site : unreached_sites(results)) {
      std::printf("FAILED: no scenario reaches %s\n", site.c_str());
      good = false;
    }
  }
  return good;
}

int run_scenarios(const test::GivenOptions& given) {
  const std::vector<Job> jobs = jobs_of(given);
  std::optional<OutputFile> json;
  if (const auto file = given.text("json")) {
    json.emplace(*file);  // opened before the run, so that an error is reported at once
  }
  std::optional<Journal> journal;
  if (const auto file = given.text("journal")) {
    journal.emplace(*file);
  }
  const std::vector<Result> results = by_family(
      run(jobs, number_of(given, "jobs", 2), report(jobs.size()), journal ? &*journal : nullptr));
  print(results);
  if (json) {
    const std::string text =
        figures_of(results).dump(2, ' ', false, test::Json::error_handler_t::replace) + '\n';
    json->write(text.data(), text.size());
    json->commit();
  }
  return is_good(results, given.texts("scenario").empty()) ? 0 : 1;
}

int main(int argument_count, char** arguments) {
  const test::GivenOptions given = command_line().parse(argument_count, arguments);
  const std::string& mode = given.mode();
  if (mode == "mutants") {
    return run_mutants(number_of(given, "jobs", 2));
  }
  if (mode == "replay") {
    return replay(*given.text("replay"));
  }
  if (mode.empty()) {
    return run_scenarios(given);
  }
  mode == "list"      ? print_list()
  : mode == "explain" ? explain()
                      : static_cast<void>(std::printf("%s", usage().c_str()));
  return 0;
}

}  // namespace
}  // namespace byre::verification

int main(int argument_count, char** arguments) {
  return byre::test::run_main("byre-verify",
                              [&] { return byre::verification::main(argument_count, arguments); });
}
