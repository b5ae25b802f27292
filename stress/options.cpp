// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

namespace byre::stress {
namespace {

namespace po = boost::program_options;
using Texts = std::vector<std::string>;

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_seconds = 1'000'000;
constexpr std::uint64_t most_seeds = 1'000;
constexpr std::uint64_t most_minutes = 100'000;
constexpr std::uint64_t most_operations = 1'000'000'000'000;

/// What a mode is asked for by, and what else it takes.
struct ModeOptions {
  std::string_view option;
  Mode mode;
  std::vector<std::string_view> uses;
};
const ModeOptions modes[] = {
    {"",
     Mode::run,
     {"workload", "seed", "duration", "operations", "threads", "storages", "mix", "sizes",
      "perturb", "protocol", "faults", "json"}},
    {"soak", Mode::soak, {"seed", "duration", "operations", "threads", "sizes", "json"}},
    {"seeded-bugs", Mode::seeded_bugs, {"seed", "seeds", "rounds", "threads", "json"}},
    {"list", Mode::list, {}},
    {"help", Mode::help, {}},
};

po::options_description described_options() {
  po::options_description options("Options", 96, 60);
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  const auto perhaps = [](const char* name) {
    return po::value<Texts>()->zero_tokens()->multitoken()->value_name(name);
  };
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("list", "say which workloads there are, and exit");
  options.add_options()("workload", text("NAME"), "one of --list, or all. Default: mixed");
  options.add_options()("seed", text("N"), "gives each thread's operations. Default: a random one");
  options.add_options()("duration", text("SECONDS"),
                        "of each workload; with --soak, minutes in all. Default: 10; 30");
  options.add_options()(
      "operations", text("N"),
      "of each thread, instead of a duration; with --soak, two rotations of so many");
  options.add_options()("threads", text("N"),
                        "from 1 to 64, of a race from 2. Default: 8; with --seeded-bugs 3");
  options.add_options()("storages", text("N"),
                        "of all threads together, each of which has two at least. Default: 64");
  options.add_options()("mix", text("MIX"),
                        "how often what is done, as read=4,write=2; --list has the names");
  options.add_options()("sizes", text("SIZES"),
                        "of storages in bytes, as 1..64M, 4K or 1M..8M, large ones rarer. "
                        "Default: 1..64M");
  options.add_options()("perturb", text("HOW"),
                        "delay threads at atomic steps: none, usual, or the chance of a delay. "
                        "Default: none, the library as it ships");
  options.add_options()("protocol", text("FORM"), "word, which ships, or lock. Default: word");
  options.add_options()("faults", text("FAULTS"),
                        "none, usual, or chances as allocation=0.1,copy=0.1 (also random, heap, "
                        "sink), budget=64M and allocation_at=N, the Nth of each thread. "
                        "Default: none; usual for the workload faults");
  options.add_options()("soak", "rotate all workloads, perturbed and not, and print one page");
  options.add_options()("seeded-bugs", perhaps("[NAME]"),
                        "which seeded bugs are found, and after how many rounds");
  options.add_options()("seeds", text("N"), "of as many runs for each seeded bug. Default: 5");
  options.add_options()("rounds", text("N"),
                        "until each seeded bug is found, at most. Default: 20000");
  options.add_options()("json", perhaps("[FILE]"),
                        "write all figures as JSON, to FILE or instead of the text");
  return options;
}

std::uint64_t number(const std::string& name, const std::string& given, std::uint64_t least,
                     std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = given.data() + given.size();
  const auto [stopped, error] = std::from_chars(given.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw BadCommandLine("--" + name + " takes a whole number from " + std::to_string(least) +
                         " to " + std::to_string(most) + ", not '" + given + "'");
  }
  return value;
}

/// What is wrong. Boost 1.74 never ends replacing the placeholders of its texts, such as %option%, where
/// an argument is written like one.
std::string explained(const po::error& error, int argc, const char* const* argv) {
  const bool is_placeholder = std::any_of(
      argv + 1, argv + argc, [](std::string_view text) { return text.find('%') != text.npos; });
  return is_placeholder ? "an argument with a % in it is not understood" : error.what();
}

po::variables_map split(int argc, const char* const* argv) {
  try {
    po::variables_map given;
    constexpr auto style = po::command_line_style::unix_style &
                           ~static_cast<int>(po::command_line_style::allow_guessing);
    // Nothing may stand alone: an empty list of positions makes that an error.
    const po::positional_options_description none;
    po::store(po::command_line_parser(argc, argv)
                  .options(described_options())
                  .positional(none)
                  .style(style)
                  .run(),
              given);
    return given;
  } catch (const po::error& error) {
    throw BadCommandLine(explained(error, argc, argv));
  }
}

/// All that is given has to matter to the one thing that is asked for.
Mode mode_of(const po::variables_map& given) {
  const ModeOptions* chosen = &modes[0];
  for (const ModeOptions& mode : modes) {
    if (mode.option.empty() || given.count(std::string(mode.option)) == 0) {
      continue;
    }
    if (chosen != &modes[0]) {
      throw BadCommandLine("either --" + std::string(chosen->option) + " or --" +
                           std::string(mode.option) + ", not both");
    }
    chosen = &mode;
  }
  for (const auto& [name, value] : given) {
    if (name != chosen->option && std::ranges::find(chosen->uses, name) == chosen->uses.end()) {
      throw BadCommandLine(chosen->option.empty()
                               ? "--" + name + " goes with --seeded-bugs"
                               : "--" + std::string(chosen->option) + " does not take --" + name);
    }
  }
  return chosen->mode;
}

/// What may be given to an option once, or not at all.
std::string only(const po::variables_map& given, const std::string& name,
                 const std::string& otherwise) {
  const auto& texts = given[name].as<Texts>();
  if (texts.size() > 1) {
    throw BadCommandLine("--" + name + " takes one value, not also '" + texts[1] + "'");
  }
  return texts.empty() ? otherwise : texts.front();
}

/// Calls `take` with what is given for `name`, if it is.
template <class Take>
void if_given(const po::variables_map& given, const std::string& name, Take take) {
  if (given.count(name) == 0) {
    return;
  }
  const auto& text = given[name].as<std::string>();
  try {
    take(text);
  } catch (const std::invalid_argument& error) {
    throw BadCommandLine("--" + name + ": " + error.what());
  }
}

void take_durations(const po::variables_map& given, Options& options) {
  if (given.count("duration") != 0 && given.count("operations") != 0) {
    throw BadCommandLine("either --duration or --operations, not both");
  }
  if_given(given, "duration", [&](const std::string& text) {
    if (options.mode == Mode::soak) {
      options.soak_duration = std::chrono::minutes(number("duration", text, 1, most_minutes));
    } else {
      options.settings.duration = std::chrono::seconds(number("duration", text, 1, most_seconds));
    }
  });
  if_given(given, "operations", [&](const std::string& text) {
    options.settings.operations = number("operations", text, 1, most_operations);
  });
}

void take_settings(const po::variables_map& given, Options& options) {
  Settings& settings = options.settings;
  if_given(given, "seed",
           [&](const std::string& text) { settings.seed = number("seed", text, 0, any_number); });
  if_given(given, "threads", [&](const std::string& text) {
    const unsigned least = options.mode == Mode::seeded_bugs ? least_race_threads : 1;
    settings.threads = static_cast<unsigned>(number("threads", text, least, most_threads));
  });
  if_given(given, "storages", [&](const std::string& text) {
    settings.storages = number("storages", text, 1, most_storages);
  });
  if_given(given, "mix", [&](const std::string& text) { settings.mix = parse_mix(text); });
  if_given(given, "sizes", [&](const std::string& text) { settings.sizes = parse_sizes(text); });
  if_given(given, "perturb",
           [&](const std::string& text) { settings.perturbation = parse_perturbation(text); });
  if_given(given, "protocol",
           [&](const std::string& text) { settings.protocol = parse_protocol(text); });
  if_given(given, "faults", [&](const std::string& text) { settings.faults = parse_faults(text); });
}

}  // namespace

Options parse(int argc, const char* const* argv) {
  const po::variables_map given = split(argc, argv);
  Options options;
  options.mode = mode_of(given);
  for (const auto& [name, value] : given) {
    options.given.insert(name);
  }
  if (options.mode == Mode::seeded_bugs) {
    options.settings.threads = 3;  // of more, most only stand in each other's way
  }
  if_given(given, "workload", [&](const std::string& text) { options.workload = text; });
  take_durations(given, options);
  take_settings(given, options);
  if_given(given, "rounds", [&](const std::string& text) {
    options.rounds = number("rounds", text, 1, any_number);
  });
  if_given(given, "seeds", [&](const std::string& text) {
    options.seeds = static_cast<unsigned>(number("seeds", text, 1, most_seeds));
  });
  if (given.count("seeded-bugs") != 0) {
    options.seeded_bugs = only(given, "seeded-bugs", "all");
  }
  if (given.count("json") != 0) {
    options.json = true;
    options.json_file = only(given, "json", "");
  }
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: byre-stress [options]

Runs the library that ships with many threads for a long time: every operation of Buffer and Storage
in a random mix, contents that say of themselves what they are, faults injected, and everything
counters. Says what was done, and ends with 1 if anything was wrong. `q` or Ctrl-C end it early, with
its report.

)" << described_options()
       << R"(
A failure prints the seed, the last operations of every thread, and the command that repeats them.
A seed gives what each thread does, not how the threads meet.

Exit codes: 0 all was as it has to be, 1 something was not, 2 wrong usage.
)";
  return text.str();
}

}  // namespace byre::stress
