// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "../mutants/pairs.hpp"
#include "../programs/programs.hpp"
#include "replay.hpp"

namespace byre::verification {
namespace {

constexpr std::pair<const char*, Mode> modes[] = {
    {"", Mode::run},
    {"help", Mode::help},
    {"list", Mode::list},
    {"list-programs", Mode::list_programs},
    {"mutants", Mode::mutants},
    {"memory-orders", Mode::memory_orders},
    {"replay", Mode::replay},
};

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("list", "the scenarios and the mutants, and nothing else")
      .values("scenario", "NAME", "this scenario only; may be given several times")
      .values("program", "TEXT",
              "this small program only, as 'write; drop | clone-write'; may be given several times")
      .flag("list-programs", "all small programs, by the scenario that searches them")
      .flag("deep", "the bounds for a long run, and every small program by itself")
      .value(
          "bound", "N",
          "at most N preemptions of a thread that could go on; or 'full'; or 'reduced', which is "
          "full but for the orders of independent steps; instead of the scenarios' own bounds")
      .value("mutant", "NAME", "with this step of the code done wrong: is it noticed?")
      .flag("mutants", "every mutant: is it noticed, by whom? Prints a document")
      .flag("memory-orders",
            "prints the tables of sites, with what the mutants of their rows came to")
      .value("check", "FILE", "says whether FILE is what --mutants or --memory-orders prints")
      .value("replay", "STRING", "one execution, as a failure printed it, step by step")
      .value("json", "FILE", "writes what was found there too")
      .value(
          "journal", "FILE",
          "keeps there what ended, and does not search it again the next time; for a long run that "
          "is broken off")
      .value("jobs", "N", "searches at a time (default: 2)")
      .value("seconds", "N", "the most for one search (default: 600, with --deep 3600)")
      .value(
          "executions", "N",
          "the most for one search (default: no limit); one that is cut short is unknown, never a "
          "pass")
      .flag("help,h", "this text");
  line.mode("", {"scenario", "program", "deep", "bound", "mutant", "json", "journal", "jobs",
                 "seconds", "executions"})
      .mode("help", {})
      .mode("list", {})
      .mode("list-programs", {})
      .mode("mutants", {"deep", "check", "json", "jobs"})
      .mode("memory-orders", {"check", "jobs"})
      .mode("replay", {});
  return line;
}

unsigned number_of(const std::string& name, const std::string& text, unsigned least) {
  return static_cast<unsigned>(test::parse_number(name, text, least, 1'000'000'000));
}

}  // namespace

std::string usage() {
  return "usage: byre-verify [options]\n\n"
         "Runs the headers that ship under a model checker, and says what it found. --list,\n"
         "--list-programs, --mutants, --memory-orders and --replay do that one thing instead.\n\n" +
         command_line().help() +
         "\nExit status: 0 if everything ended as expected, 1 if not, 2 for a command line that "
         "makes no sense.\n";
}

const Scenario& find_program(const std::string& name) {
  try {
    return program_scenario(name);
  } catch (const std::invalid_argument& error) {
    throw UsageError("not a program: '" + name + "': " + error.what());
  }
}

const Scenario& find_scenario(const std::string& name) {
  for (const Scenario* scenario : all_scenarios()) {
    if (scenario->name == name) {
      return *scenario;
    }
  }
  if (name.find('|') != std::string::npos) {
    return find_program(name);
  }
  throw UsageError("there is no scenario '" + name + "'; --list names those there are");
}

Mutation find_swap_of(const std::string& name, const sync::Site& site, const sync::Site& next) {
  try {
    return find_swap(site, next);
  } catch (const std::invalid_argument& error) {
    throw UsageError("there is no mutant '" + name + "': " + error.what());
  }
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
  // "type.step:after-next": which steps follow each other is known by running them.
  if (const std::size_t colon = name.find(":after-"); colon != std::string::npos) {
    const std::string type = name.substr(0, name.find('.') + 1);
    const sync::Site* site = find_site(name.substr(0, colon));
    const sync::Site* next = find_site(type + name.substr(colon + 7));
    if (site != nullptr && next != nullptr) {
      return find_swap_of(name, *site, *next);
    }
  }
  throw UsageError("there is no mutant '" + name + "'; --list names those there are");
}

Bound parse_bound(const std::string& text) {
  return text == "full" ? full_search
         : text == "reduced"
             ? reduced_search
             : preemptions(number_of("a bound, if not 'full' or 'reduced',", text, 0));
}

Job parse_replay(const std::string& text) {
  const std::vector<std::string> parts = parts_of_replay_string(text);
  Job job;
  try {
    job.scenario = &find_scenario(parts[0]);
    job.mutation = find_mutation(parts[1]);
    job.search.bound = parse_bound(parts[2]);
  } catch (const UsageError& error) {
    throw UsageError("the replay string is not of this program: " + std::string(error.what()));
  }
  job.search.state = unpacked_state(parts[3]);
  job.search.most_executions = 1;
  job.is_replay = true;
  return job;
}

Options parse_options(int argument_count, char** arguments) {
  const test::GivenOptions given = command_line().parse(argument_count, arguments);
  for (const std::string& name : given.names()) {
    if (std::ranges::count(given.texts(name), std::string()) != 0) {
      throw UsageError("--" + name + " takes a value");
    }
  }
  Options options;
  options.mode = std::ranges::find(modes, given.mode(), [](const auto& mode) {
                   return std::string_view(mode.first);
                 })->second;
  for (const std::string& name : given.texts("scenario")) {
    options.scenarios.push_back(&find_scenario(name));
  }
  for (const std::string& name : given.texts("program")) {
    options.scenarios.push_back(&find_program(name));
  }
  options.deep = given.has("deep");
  options.file_to_check = given.text("check").value_or("");
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
