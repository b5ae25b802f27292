// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "support/command_line.hpp"

namespace byre::stress {
namespace {

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("help", "print this help and exit")
      .flag("list", "list workloads and steps, and exit")
      .value("workload", "NAME", "a workload of --list, or all. Default: mixed")
      .value("seed", "N", "determines the operations of each thread. Default: random")
      .value("duration", "SECONDS", "per workload, default 10; with --soak in total, default 1800")
      .value("operations", "N",
             "run N per thread, instead of a duration; with --soak, two rotations of N each")
      .value("threads", "N", "1 to 64, for a race 2 to 64. Default: 8")
      .value("slots", "N", "per thread: N buffers and N storages. Default: 4")
      .value("most-nbytes", "N", "largest size of a value. Default: 67108864")
      .value("mix", "MIX", "weights of steps, such as write=4,clone=2; --list has the names")
      .flag("perturb", "delay threads at random atomic steps")
      .flag("repeat-history", "histories only: run the first one again and again")
      .flag("json", "print the results as JSON, one line for each workload; not with --soak")
      .flag("soak", "run all workloads in turn, perturbed and not, and check for growth");
  return line;
}

}  // namespace

std::string command_of(std::string_view workload, const Settings& settings) {
  const Settings usual;
  std::ostringstream command;
  command << "byre-stress --workload " << workload << " --seed " << settings.seed << " --threads "
          << settings.threads;
  const auto add = [&](const char* name, const auto& value, bool is_usual) {
    if (!is_usual) {
      command << " --" << name << ' ' << value;
    }
  };
  add("slots", settings.slots, settings.slots == usual.slots);
  add("most-nbytes", settings.most_nbytes, settings.most_nbytes == usual.most_nbytes);
  add("repeat-history", "", !settings.repeats_history);
  add("perturb", "", settings.perturbation == no_perturbation);
  if (settings.mix) {
    add("mix", programs::text_of(*settings.mix), false);
  }
  settings.operations ? add("operations", *settings.operations, false)
                      : add("duration", std::ceil(settings.duration.count()), false);
  return command.str();
}

Options parse(int argc, const char* const* argv) {
  constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
  const test::GivenOptions given = command_line().parse(argc, argv);
  if (given.has("duration") && given.has("operations")) {
    throw test::UsageError("--duration and --operations exclude each other. Pass one of them");
  }
  Options options;
  options.help = given.has("help");
  options.list = given.has("list");
  options.json = given.has("json");
  options.soak = given.has("soak");
  if (options.json && options.soak) {
    throw test::UsageError("--json and --soak exclude each other. Pass one of them");
  }
  options.workload = given.text("workload").value_or(options.workload);
  Settings& settings = options.settings;
  const auto number = [&](const char* name, std::uint64_t least, std::uint64_t most,
                          auto& setting) {
    setting = static_cast<std::decay_t<decltype(setting)>>(
        given.number(name, least, most).value_or(static_cast<std::uint64_t>(setting)));
  };
  settings.seed = std::random_device{}();
  std::uint64_t seconds = options.soak ? 1800 : 10;
  number("seed", 0, any_number, settings.seed);
  number("threads", 1, most_threads, settings.threads);
  number("slots", 2, 1000, settings.slots);
  number("most-nbytes", 1, most_size_nbytes, settings.most_nbytes);
  number("duration", 1, 10'000'000, seconds);
  settings.duration = std::chrono::seconds(seconds);
  settings.operations = given.number("operations", 1, 1'000'000'000'000);
  try {
    if (const auto mix = given.text("mix")) {
      settings.mix = programs::parse_mix(*mix);
    }
  } catch (const std::invalid_argument& error) {
    throw test::UsageError(std::string("--mix: ") + error.what());
  }
  settings.repeats_history = given.has("repeat-history");
  settings.perturbation = given.has("perturb") ? usual_perturbation : no_perturbation;
  return options;
}

std::string help_text() {
  return R"(Usage: byre-stress [options]

Runs the library as it ships with many threads for a long time. Random programs use buffers,
storages, pins, pages and tiled buffers, and check every answer and counter. Races check outcomes
that are known exactly. Histories check that operations are linearizable. Ctrl-C ends a run early,
with its report.

)" + command_line().help() +
         R"(
A failure prints the last steps of every thread and the command that repeats them. A seed determines
what each thread does, not how the threads interleave.

Exit codes: 0 if all checks passed; 1 or a signal if a check failed; 2 for wrong usage.
)";
}

}  // namespace byre::stress
