// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <limits>
#include <map>

namespace byre::stress {
namespace {

using test::UsageError;

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_seconds = 1'000'000;
constexpr std::uint64_t most_seeds = 1'000;
constexpr std::uint64_t most_minutes = 100'000;
constexpr std::uint64_t most_operations = 1'000'000'000'000;

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("help,h", "print this, and exit")
      .flag("list", "list workloads, seeded bugs and operations, and exit")
      .value("workload", "NAME", "one of --list, or all. Default: mixed")
      .value("seed", "N", "determines each thread's operations. Default: a random one")
      .value("duration", "SECONDS",
             "of each workload; with --soak, minutes in all. Default: 10; 30")
      .value("operations", "N",
             "of each thread, instead of a duration; with --soak, two rotations of so many")
      .value("threads", "N", "from 1 to 64, of a race from 2. Default: 8; with --seeded-bugs 3")
      .value("storages", "N",
             "of all threads together, each of which has two at least. Default: 64")
      .value("mix", "MIX", "weights of the operations, as read=4,write=2; --list has the names")
      .value("sizes", "SIZES",
             "of storages in bytes, as 1..64M, 4K or 1M..8M, large ones rarer. Default: 1..64M")
      .value("perturb", "HOW",
             "delay threads at atomic steps: none, usual, or the chance of a delay. Default: none, "
             "the library as it ships")
      .value("protocol", "FORM", "word, which ships, or lock. Default: word")
      .value("faults", "FAULTS",
             "none, usual, or chances as allocation=0.1,copy=0.1 (also random, heap, sink), "
             "budget=64M and allocation_at=N, the Nth of each thread. Default: none; usual for the "
             "workload faults")
      .flag("soak", "rotate all workloads, perturbed and not, and print one page")
      .optional_value("seeded-bugs", "[NAME]",
                      "try to detect seeded bugs, and print after how many rounds")
      .value("seeds", "N", "runs of each seeded bug. Default: 5")
      .value("rounds", "N",
             "of each such run that has to find it, at most, and a quarter of that of others. "
             "Default: 20000")
      .optional_value("json", "[FILE]",
                      "write all figures as JSON, to FILE or instead of the text");
  line.mode("", {"workload", "seed", "duration", "operations", "threads", "storages", "mix",
                 "sizes", "perturb", "protocol", "faults", "json"})
      .mode("soak", {"seed", "duration", "operations", "threads", "sizes", "json"})
      .mode("seeded-bugs", {"seed", "seeds", "rounds", "threads", "json"})
      .mode("list", {})
      .mode("help", {});
  return line;
}

void take_durations(const test::GivenOptions& given, Options& options) {
  if (given.has("duration") && given.has("operations")) {
    throw UsageError("either --duration or --operations, not both");
  }
  if (options.mode == Mode::soak) {
    if (const auto minutes = given.number("duration", 1, most_minutes)) {
      options.soak_duration = std::chrono::minutes(*minutes);
    }
  } else if (const auto seconds = given.number("duration", 1, most_seconds)) {
    options.settings.duration = std::chrono::seconds(*seconds);
  }
  options.settings.operations = given.number("operations", 1, most_operations);
}

void take_settings(const test::GivenOptions& given, Options& options) {
  Settings& settings = options.settings;
  const bool is_of_races = options.mode == Mode::seeded_bugs;
  // Of more threads than three, most only slow each other down.
  const unsigned usual_threads = is_of_races ? 3 : settings.threads;
  const unsigned least_threads = is_of_races ? least_race_threads : 1;
  settings.threads = static_cast<unsigned>(
      given.number("threads", least_threads, most_threads).value_or(usual_threads));
  settings.seed = given.number("seed", 0, any_number).value_or(settings.seed);
  settings.storages = static_cast<std::size_t>(
      given.number("storages", 1, most_storages).value_or(settings.storages));
  given.if_given("mix", [&](const auto& text) { settings.mix = parse_mix(text); });
  given.if_given("sizes", [&](const auto& text) { settings.sizes = parse_sizes(text); });
  given.if_given("perturb",
                 [&](const auto& text) { settings.perturbation = parse_perturbation(text); });
  given.if_given("protocol", [&](const auto& text) { settings.protocol = parse_protocol(text); });
  given.if_given("faults", [&](const auto& text) { settings.faults = parse_faults(text); });
}

}  // namespace

Options parse(int argc, const char* const* argv) {
  static const std::map<std::string, Mode> modes{{"", Mode::run},
                                                 {"soak", Mode::soak},
                                                 {"seeded-bugs", Mode::seeded_bugs},
                                                 {"list", Mode::list},
                                                 {"help", Mode::help}};
  const test::GivenOptions given = command_line().parse(argc, argv);
  Options options;
  options.mode = modes.at(given.mode());
  options.given = given.names();
  options.workload = given.text("workload").value_or(options.workload);
  take_durations(given, options);
  take_settings(given, options);
  options.rounds = given.number("rounds", 1, any_number);
  if (const auto seeds = given.number("seeds", 1, most_seeds)) {
    options.seeds = static_cast<unsigned>(*seeds);
  }
  if (const auto name = given.text("seeded-bugs"); name && !name->empty()) {
    options.seeded_bugs = *name;
  }
  options.json = given.text("json");
  return options;
}

std::string help_text() {
  return R"(Usage: byre-stress [options]

Runs the library that ships with many threads for a long time: every operation of Buffer and Storage
in a random mix, on content that identifies its writer, with injected faults, and with everything
counted. Prints what was done, and ends with 1 if anything was wrong. `q` or Ctrl-C end it early, with
its report.

)" + command_line().help() +
         R"(
A failure prints the seed, the last operations of every thread, and the command that repeats them.
A seed determines what each thread does, not how the threads interleave.

Exit codes: 0 all checks passed, 1 one failed, 2 wrong usage.
)";
}

}  // namespace byre::stress
