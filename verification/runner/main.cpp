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
  line.flag("list", "the scenarios")
      .flag("explain", "each step of core with its operation, its order and its mutants")
      .flag("mutants", "every mutant: which scenario notices it?")
      .value("replay", "STRING", "one execution, as a failure printed it, step by step")
      .values("scenario", "NAME",
              "this scenario only, or a small program as 'write; drop | clone-write'; may be given "
              "several times")
      .value(
          "bound", "N",
          "at most N preemptions of a thread that could go on; or 'full'; or 'reduced', which is "
          "full but for the orders of independent steps; instead of the scenarios' own bounds")
      .value("mutant", "NAME", "with this step of the code done wrong: is it noticed?")
      .flag("deep", "the bounds for a long run, and every small program by itself")
      .value("journal", "FILE", "keeps there what ended, and does not search it again")
      .value("json", "FILE", "writes what was found there too")
      .value("jobs", "N", "searches at a time (default: 2)")
      .value("seconds", "N", "the most for one search (default: 600, with --deep 3600)")
      .value("executions", "N",
             "the most for one search; one that is cut short is unknown, never a pass")
      .flag("help", "this text");
  line.mode("", {"scenario", "deep", "bound", "mutant", "json", "journal", "jobs", "seconds",
                 "executions"})
      .mode("help", {})
      .mode("list", {})
      .mode("mutants", {"jobs"})
      .mode("explain", {})
      .mode("replay", {});
  return line;
}

/// Of an option whose least value is 1.
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
  throw UsageError("there is no scenario '" + name +
                   "'; --list names those there are, and a small program is of two threads with up "
                   "to two operations each, or of three with one, as 'write; drop | clone-write'");
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
  throw UsageError("there is no mutant '" + name +
                   "'; --explain has those there are: a step or number, a colon, and the mutant");
}

Bound parse_bound(const std::string& text) {
  return text == "full"      ? full_search
         : text == "reduced" ? reduced_search
                             : static_cast<unsigned>(test::parse_number(
                                   "a bound, if not 'full' or 'reduced',", text, 0, 1'000'000'000));
}

std::string usage() {
  return "usage: byre-verify [options]\n\n"
         "Runs the headers that ship under a model checker, and says what it found. --list,\n"
         "--explain, --mutants and --replay do that one thing instead.\n\n" +
         command_line().help() +
         "\nExit status: 0 if everything ended as expected, 1 if not, 2 for a command line that "
         "makes no sense.\n";
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
    // A known-wrong design fails with or without a mutant.
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

int replay(const std::string& text) {
  const Job job = parse_replay(text);
  const Result result = run({job}, 1, [](const Result&) {}).front();
  if (!is_failure(result.found.verdict) || result.replay != text) {
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
    json.emplace(*file);  // first: a long run is not to end with its error
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
