// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "../programs/program.hpp"

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
      .flag("help,h", "this text");
  line.mode("", {"scenario", "deep", "bound", "mutant", "json", "journal", "jobs", "seconds",
                 "executions"})
      .mode("help", {})
      .mode("list", {})
      .mode("mutants", {"jobs"})
      .mode("explain", {})
      .mode("replay", {});
  return line;
}

unsigned number_of(const std::string& name, const std::string& text, unsigned least) {
  return static_cast<unsigned>(test::parse_number(name, text, least, 1'000'000'000));
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
                             : Bound(number_of("a bound, if not 'full' or 'reduced',", text, 0));
}

}  // namespace

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

Options parse_options(int argument_count, char** arguments) {
  const test::GivenOptions given = command_line().parse(argument_count, arguments);
  Options options;
  options.mode = given.mode();
  for (const std::string& name : given.texts("scenario")) {
    options.scenarios.push_back(&find_scenario(name));
  }
  options.deep = given.has("deep");
  options.mutation = find_mutation(given.text("mutant").value_or("none"));
  if (const auto bound = given.text("bound")) {
    options.bound = parse_bound(*bound);
  }
  options.replay = given.text("replay").value_or("");
  options.json_file = given.text("json");
  options.journal = given.text("journal");
  const auto number = [&](const char* name, unsigned otherwise) {
    const auto text = given.text(name);
    return text ? number_of(std::string("--") + name, *text, 1) : otherwise;
  };
  options.jobs = number("jobs", 2);
  options.seconds = number("seconds", options.deep ? 3600 : 600);
  if (given.has("executions")) {
    options.executions = number("executions", 1);
  }
  return options;
}

}  // namespace byre::verification
