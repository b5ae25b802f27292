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
  line.flag("help", "print this, and exit")
      .flag("list", "list workloads and operations, and exit")
      .value("workload", "NAME", "one of --list, or all. Default: mixed")
      .value("seed", "N", "determines each thread's operations. Default: a random one")
      .value("duration", "SECONDS", "of each workload; with --soak in all. Default: 10; 1800")
      .value("operations", "N",
             "of each thread, instead of a duration; with --soak, two rotations of so many")
      .value("threads", "N", "from 1 to 64, of a race from 2. Default: 8")
      .value("slots", "N", "of each thread, for buffers and as many for storages. Default: 4")
      .value("most-nbytes", "N", "of a value. Default: 67108864")
      .value("mix", "MIX", "weights of the steps, as write=4,clone=2; --list has the names")
      .flag("perturb", "delay threads at atomic steps; else the library is as it ships")
      .flag("soak", "rotate all workloads, perturbed and not, and judge what grows");
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
    throw test::UsageError("either --duration or --operations, not both");
  }
  Options options;
  options.help = given.has("help");
  options.list = given.has("list");
  options.soak = given.has("soak");
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
  settings.perturbation = given.has("perturb") ? usual_perturbation : no_perturbation;
  return options;
}

std::string help_text() {
  return R"(Usage: byre-stress [options]

Runs the library that ships with many threads for a long time: random programs over buffers, storages,
pins, pages and tiled buffers, with every answer and every count checked; and races whose outcome is
known exactly. Ctrl-C ends it early, with its report.

)" + command_line().help() +
         R"(
A failure prints the last steps of every thread, and the command that repeats them. A seed determines
what each thread does, not how the threads interleave.

Exit codes: 0 all checks passed, 1 or a signal: one failed, 2 wrong usage.
)";
}

}  // namespace byre::stress
