// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "../mutants/pairs.hpp"
#include "../programs/programs.hpp"

namespace byre::verification {
namespace {

struct ModeOptions {
  std::string_view option;  ///< that asks for it
  Mode mode;
  std::vector<std::string_view> uses;
};

const ModeOptions modes[] = {
    {"",
     Mode::run,
     {"--scenario", "--program", "--deep", "--bound", "--mutant", "--json", "--jobs", "--seconds",
      "--executions"}},
    {"--list", Mode::list, {}},
    {"--list-programs", Mode::list_programs, {}},
    {"--mutants", Mode::mutants, {"--deep", "--check", "--json", "--jobs"}},
    {"--memory-orders", Mode::memory_orders, {"--check", "--jobs"}},
    {"--replay", Mode::replay, {}},
};

bool uses(const ModeOptions& mode, std::string_view option) {
  return option == mode.option || std::ranges::find(mode.uses, option) != mode.uses.end();
}

/// "--mutants or --memory-orders".
std::string users_of(std::string_view option) {
  std::string users;
  for (const ModeOptions& mode : modes) {
    if (uses(mode, option)) {
      users += (users.empty() ? "" : " or ") + std::string(mode.option);
    }
  }
  return users;
}

/// The one thing that the options ask for; all of them have to matter to it.
Mode mode_of(const std::vector<std::string>& options) {
  const ModeOptions* chosen = nullptr;
  for (const ModeOptions& mode : modes) {
    const auto count = std::ranges::count(options, mode.option);
    if (count > 1) {
      throw UsageError(std::string(mode.option) + " is given more than once");
    }
    if (count == 1 && chosen != nullptr) {
      throw UsageError("either " + std::string(chosen->option) + " or " + std::string(mode.option) +
                       ", not both");
    }
    chosen = count == 1 ? &mode : chosen;
  }
  const ModeOptions& mode = chosen != nullptr ? *chosen : modes[0];
  for (const std::string& option : options) {
    if (!uses(mode, option)) {
      throw UsageError(chosen == nullptr ? option + " goes with " + users_of(option)
                                         : std::string(mode.option) + " does not take " + option);
    }
  }
  return mode.mode;
}

unsigned parse_number(const std::string& option, const std::string& text, unsigned least) {
  unsigned number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number < least || number > 1'000'000'000) {
    throw UsageError(option + " takes a number from " + std::to_string(least) + " on, not '" +
                     text + "'");
  }
  return number;
}

}  // namespace

const char* const usage =
    R"(usage: byre-verify [options]

Runs the headers that ship under a model checker, and says what it found. --list, --list-programs,
--mutants, --memory-orders and --replay do that one thing instead.

  --list             the scenarios and the mutants, and nothing else
  --scenario NAME    this scenario only; may be given several times
  --program TEXT     this small program only, as 'write; drop | clone-write'; may be given several
                     times
  --list-programs    all small programs, by the scenario that searches them
  --deep             the bounds for a long run
  --bound N          at most N preemptions of a thread that could go on, or 'full', or
                     'reduced', which is full but for the orders of independent steps; instead of
                     the scenarios' own bounds
  --mutant NAME      with this step of the code done wrong: is it noticed?
  --mutants          every mutant: is it noticed, by whom? Prints docs/mutants.md
  --memory-orders    prints docs/memory-orders.md, from the tables and the mutants of their rows
  --check FILE       says whether FILE is what --mutants or --memory-orders prints
  --replay STRING    one execution, as a failure printed it, step by step
  --json FILE        write what was found there too
  --jobs N           searches at a time (default: 2)
  --seconds N        the most for one search (default: 600, with --deep 3600)
  --executions N     the most for one search (default: no limit); one that is cut short is
                     unknown, never a pass
  --help             this text

Exit status: 0 if everything ended as expected, 1 if not, 2 for a command line that makes no sense.
)";

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
             : preemptions(parse_number("a bound, if not 'full' or 'reduced',", text, 0));
}

Options parse_options(int argument_count, char** arguments) {
  Options options;
  std::vector<std::string> given;
  for (int at = 1; at < argument_count; ++at) {
    const std::string option = arguments[at];
    given.push_back(option);
    const auto value = [&]() -> std::string {
      if (at + 1 == argument_count || *arguments[at + 1] == '\0') {
        throw UsageError(option + " takes a value");
      }
      return arguments[++at];
    };
    if (option == "--help" || option == "-h") {
      options.help = true;
    } else if (option == "--list" || option == "--list-programs" || option == "--mutants" ||
               option == "--memory-orders") {
      // A mode, and nothing more: mode_of sees to it.
    } else if (option == "--program") {
      options.scenarios.push_back(&find_program(value()));
    } else if (option == "--deep") {
      options.deep = true;
    } else if (option == "--check") {
      options.file_to_check = value();
    } else if (option == "--scenario") {
      options.scenarios.push_back(&find_scenario(value()));
    } else if (option == "--mutant") {
      options.mutation = find_mutation(value());
    } else if (option == "--bound") {
      options.bound = parse_bound(value());
    } else if (option == "--replay") {
      options.replay = value();
    } else if (option == "--json") {
      options.json_file = value();
    } else if (option == "--jobs") {
      options.jobs = parse_number(option, value(), 1);
    } else if (option == "--executions") {
      options.executions = parse_number(option, value(), 1);
    } else if (option == "--seconds") {
      options.seconds = parse_number(option, value(), 1);
    } else {
      throw UsageError("there is no option '" + option + "'; --help lists those there are");
    }
  }
  if (!options.help) {
    options.mode = mode_of(given);
  }
  return options;
}

}  // namespace byre::verification
