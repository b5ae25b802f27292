// SPDX-License-Identifier: BSL-1.0
/// byre-stress: runs the library as it ships with many real threads, for a long time. See
/// README.md.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "soak/soak.hpp"
#include "support/command_line.hpp"
#include "workload.hpp"

namespace byre::stress {
namespace {

enum Exit : int { passed = 0, failed = 1 };

std::vector<const Workload*> chosen_workloads(const Options& options) {
  try {
    auto chosen = workloads_named(options.workload);
    if (chosen.front()->is_race &&
        (options.settings.mix || options.settings.threads < least_race_threads)) {
      throw test::UsageError("a race needs at least 2 --threads, and takes no --mix");
    }
    return chosen;
  } catch (const std::invalid_argument& error) {
    throw test::UsageError(error.what());
  }
}

Exit run_workloads(const Options& options) {
  Exit exit = passed;
  for (const Workload* const workload : chosen_workloads(options)) {
    if (!stop_requested()) {
      const Outcome outcome = workload->run(options.settings);
      std::printf("%s", (options.json ? json_of(outcome) : text_of(outcome)).c_str());
      exit = outcome.failures.empty() ? exit : failed;
    }
  }
  return exit;
}

Exit list() {
  std::printf("workloads:\n");
  for (const Workload& workload : all_workloads()) {
    std::printf("  %-32s%s\n", workload.name.data(), workload.shows.data());
  }
  std::printf("steps of --mix, with their default weights: %s\n",
              programs::text_of(programs::usual_mix()).c_str());
  return passed;
}

Exit run(int argc, const char* const* argv) {
  const Options options = parse(argc, argv);
  if (options.help) {
    std::printf("%s", help_text().c_str());
    return passed;
  }
  if (options.list) {
    return list();
  }
  if (!options.soak) {
    return run_workloads(options);
  }
  return soak(options.settings) ? passed : failed;
}

}  // namespace
}  // namespace byre::stress

int main(int argc, char** argv) {
  return byre::test::run_main("byre-stress", [&] { return byre::stress::run(argc, argv); });
}
