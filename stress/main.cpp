// SPDX-License-Identifier: BSL-1.0
/// byre-stress: the library that ships, with real threads, for a long time. See docs/stress.md.
#include <algorithm>
#include <cstdio>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.hpp"
#include "report/console.hpp"
#include "report/report.hpp"
#include "seeded_bugs/detection.hpp"
#include "soak/soak.hpp"
#include "support/json.hpp"
#include "workload.hpp"

namespace byre::stress {
namespace {

using test::Json;
using test::JsonOutput;
using test::UsageError;

enum Exit : int { passed = 0, failed = 1 };

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw std::runtime_error("cannot write to standard output");
  }
}

std::vector<const Workload*> chosen_workloads(const std::string& name) {
  std::vector<const Workload*> chosen;
  for (const Workload& workload : all_workloads()) {
    if (name == "all" || name == workload.name) {
      chosen.push_back(&workload);
    }
  }
  if (chosen.empty()) {
    throw UsageError("there is no workload '" + name + "'; --list has the names");
  }
  return chosen;
}

/// Every option has to matter to one of the workloads at least.
void check_for(const std::vector<const Workload*>& chosen, const Options& options) {
  if (!std::ranges::all_of(chosen, &Workload::is_race)) {
    return;
  }
  for (const char* name : {"mix", "storages", "faults"}) {
    if (options.given.count(name) != 0) {
      throw UsageError("a race does not take --" + std::string(name));
    }
  }
  if (options.settings.threads < least_race_threads) {
    throw UsageError("a race takes from 2 --threads on");
  }
}

Exit run_workloads(const Options& options) {
  const auto chosen = chosen_workloads(options.workload);
  check_for(chosen, options);
  JsonOutput output(options.json);
  Console console;
  Json figures = Json::array();
  Exit exit = passed;
  for (const Workload* workload : chosen) {
    if (console.stop_requested()) {
      break;
    }
    Settings settings = options.settings;
    if (options.given.count("faults") == 0) {
      settings.faults = workload->usual_faults;
    }
    const Outcome outcome = workload->run(settings, console);
    console.clear();
    if (!output.is_standard_output()) {
      print(text_of(outcome));
    }
    figures.push_back(json_of(outcome));
    exit = outcome.failures.empty() ? exit : failed;
  }
  output.write(figures);
  return exit;
}

Exit run_soak(const Options& options) {
  JsonOutput output(options.json);
  Console console;
  const Soak soaked = soak(options.settings, options.soak_duration, console);
  console.clear();
  if (!output.is_standard_output()) {
    print(text_of(soaked));
  }
  output.write(json_of(soaked));
  return soaked.failures.empty() ? passed : failed;
}

std::vector<const seeded_bugs::Bug*> chosen_bugs(const std::string& name) {
  try {
    return seeded_bugs::bugs_named(name);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

Exit run_seeded_bugs(const Options& options) {
  seeded_bugs::DetectionSettings settings{.seed = options.settings.seed,
                                          .threads = options.settings.threads};
  settings.rounds = options.rounds.value_or(settings.rounds);
  settings.seeds = options.seeds.value_or(settings.seeds);
  const auto bugs = chosen_bugs(options.seeded_bugs);
  JsonOutput output(options.json);
  const auto print_unless_json = [&](const std::string& text) {
    if (!output.is_standard_output()) {
      print(text);
    }
  };
  print_unless_json(seeded_bugs::head_of_table(settings));
  std::vector<seeded_bugs::Detection> detections;
  for (const seeded_bugs::Bug* bug : bugs) {
    detections.push_back(seeded_bugs::detect(*bug, settings));
    print_unless_json(seeded_bugs::row_of(detections.back()));
  }
  print_unless_json(seeded_bugs::foot_of_table(detections));
  output.write(seeded_bugs::json_of(settings, detections));
  const bool all_found = std::ranges::all_of(detections, &seeded_bugs::Detection::is_as_expected);
  return all_found && seeded_bugs::perturbation_helps(detections) ? passed : failed;
}

Exit list() {
  std::string text = "workloads:\n";
  const auto add = [&](std::string_view name, std::string_view about) {
    text +=
        "  " + std::string(name) + std::string(32 - name.size(), ' ') + std::string(about) + '\n';
  };
  for (const Workload& workload : all_workloads()) {
    add(workload.name, workload.shows);
  }
  text += "seeded bugs:\n";
  for (const seeded_bugs::Bug& bug : seeded_bugs::all_bugs()) {
    add(bug.name, bug.is_wrong_in);
  }
  print(text + "operations of --mix, with their usual weights: " + text_of(usual_mix()) + '\n');
  return passed;
}

Exit dispatch(const Options& options) {
  switch (options.mode) {
    case Mode::help:
      print(help_text());
      return passed;
    case Mode::list:
      return list();
    case Mode::run:
      return run_workloads(options);
    case Mode::soak:
      return run_soak(options);
    case Mode::seeded_bugs:
      return run_seeded_bugs(options);
  }
  return failed;
}

int run(int argc, const char* const* argv) {
  try {
    Options options = parse(argc, argv);
    if (options.given.count("seed") == 0) {
      options.settings.seed = std::random_device{}();
    }
    return dispatch(options);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("out of memory. Use fewer --storages or smaller --sizes");
  }
}

}  // namespace
}  // namespace byre::stress

int main(int argc, char** argv) {
  return byre::test::run_main("byre-stress", [&] { return byre::stress::run(argc, argv); });
}
