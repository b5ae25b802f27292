// SPDX-License-Identifier: BSL-1.0
/// byre-kills: processes that send lazy clones to each other, and are killed at random points. See
/// stress/README.md.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>

#include "processes/supervisor.hpp"
#include "support/command_line.hpp"
#include "support/json.hpp"

namespace byre::stress::processes {
namespace {

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("help", "print this help and exit")
      .value("kills", "N", "end after N kills. Default: 1000")
      .value("workers", "N", "how many processes work at once, 1 to 64. Default: 8")
      .value("seed", "N", "determines the steps of each process. Default: random")
      .value("fault", "NAME", "make an error that the run must detect; see stress/README.md")
      .flag("alone", "no other program uses shared memory: fail if the machine has more afterwards")
      .flag("json", "print the figures as JSON")
      .values("worker", "TEXT", "internal: the program is a worker of another byre-kills");
  return line;
}

Fault fault_of(const std::string& name) {
  const auto found = std::ranges::find(fault_names, name);
  if (found == std::end(fault_names)) {
    std::string text = "unknown fault '" + name + "', possible:";
    for (const char* const possible : fault_names) {
      text += std::string(" ") + possible;
    }
    throw test::UsageError(text);
  }
  return static_cast<Fault>(found - std::begin(fault_names));
}

void print_json(const RunSettings& settings, const RunFigures& figures) {
  test::Json json{{"seed", settings.seed},
                  {"kills", figures.kills},
                  {"processes", figures.processes},
                  {"most_at_once", figures.most_at_once},
                  {"survivors", figures.survivors},
                  {"shared_growth_nbytes", figures.shared_growth_nbytes},
                  {"seconds", figures.seconds.count()}};
  for (std::size_t index = 0; index < step_count; ++index) {
    const char* const name = name_of(static_cast<Step>(index));
    json["done"][name] = figures.done[index];
    json["killed_in"][name] = figures.killed_in[index];
  }
  std::printf("%s\n", json.dump().c_str());
}

void print_text(const RunSettings& settings, const RunFigures& figures) {
  std::printf("byre-kills --seed %" PRIu64 ": passed\n", settings.seed);
  std::printf("%" PRIu64 " kills of %" PRIu64 " processes, at most %" PRIu64
              " at once, in %.1f s; %" PRIu64 " survivors\n",
              figures.kills, figures.processes, figures.most_at_once, figures.seconds.count(),
              figures.survivors);
  std::printf("shared memory of the machine: %+.1f MiB\n",
              static_cast<double>(figures.shared_growth_nbytes) / (1 << 20));
  std::printf("  %-20s%12s%12s\n", "step", "done", "killed in");
  for (std::size_t index = 0; index < step_count; ++index) {
    std::printf("  %-20s%12" PRIu64 "%12" PRIu64 "\n", name_of(static_cast<Step>(index)),
                figures.done[index], figures.killed_in[index]);
  }
}

int main_of(int argc, const char* const* argv) {
  const test::GivenOptions given = command_line().parse(argc, argv);
  if (const auto worker = given.texts("worker"); worker.size() == 2) {
    work(Channels::from(worker[0]), WorkerSettings::from(worker[1]));
  }
  if (given.has("help")) {
    std::printf("%s", ("Usage: byre-kills [options]\n\n"
                       "Processes send lazy clones to each other over sockets, write them, fork, "
                       "and are\nkilled at random points. Contents check themselves; at the end, "
                       "survivors and the\nsystem have nothing left of the other processes.\n\n" +
                       command_line().help() +
                       "\nExit codes: 0 if all checks passed; 1 if a check failed; 2 for wrong "
                       "usage.\n")
                          .c_str());
    return 0;
  }
  RunSettings settings;
  settings.seed = given.number("seed").value_or(std::random_device{}());
  settings.kills = given.number("kills", 1).value_or(settings.kills);
  settings.workers =
      static_cast<std::size_t>(given.number("workers", 1, 64).value_or(settings.workers));
  settings.fault = fault_of(given.text("fault").value_or("none"));
  settings.is_alone = given.has("alone");
  const RunFigures figures = run(settings);
  given.has("json") ? print_json(settings, figures) : print_text(settings, figures);
  return 0;
}

}  // namespace
}  // namespace byre::stress::processes

int main(int argc, char** argv) {
  return byre::test::run_main("byre-kills",
                              [&] { return byre::stress::processes::main_of(argc, argv); });
}
