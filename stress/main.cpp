// SPDX-License-Identifier: BSL-1.0
// byre-stress: the library that ships, with real threads, for a long time. See docs/stress.md.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "options.hpp"
#include "seeded_bugs/detection.hpp"
#include "report/console.hpp"
#include "report/report.hpp"
#include "soak/soak.hpp"
#include "workload.hpp"

namespace byre::stress {
namespace {

using Json = nlohmann::ordered_json;

enum Exit : int { all_right = 0, something_wrong = 1, wrong_usage = 2 };

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw std::runtime_error("cannot write to standard output");
  }
}

/// Opened before the work, so that a place that cannot be written to is not found out after it.
class JsonOutput {
 public:
  explicit JsonOutput(const Options& options)
      : wanted_(options.json), path_(options.json_file.string()) {
    if (!path_.empty()) {
      file_.open(path_);
      check();
    }
  }
  /// Instead of the text.
  bool is_on_standard_output() const { return wanted_ && path_.empty(); }

  void write(const Json& figures) {
    if (!wanted_) {
      return;
    }
    const std::string text = figures.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (path_.empty()) {
      print(text);
      return;
    }
    file_ << text << std::flush;
    check();
  }

 private:
  void check() const {
    if (!file_) {
      throw std::runtime_error("cannot write " + path_);
    }
  }

  const bool wanted_;
  const std::string path_;
  std::ofstream file_;
};

std::vector<const Workload*> chosen_workloads(const std::string& name) {
  std::vector<const Workload*> chosen;
  for (const Workload& workload : all_workloads()) {
    if (name == "all" || name == workload.name) {
      chosen.push_back(&workload);
    }
  }
  if (chosen.empty()) {
    throw BadCommandLine("there is no workload '" + name + "'; --list says which there are");
  }
  return chosen;
}

/// What is given has to matter to one of the workloads at least; of all, the races leave it aside.
void check_for(const std::vector<const Workload*>& chosen, const Options& options) {
  if (!std::ranges::all_of(chosen, &Workload::is_race)) {
    return;
  }
  for (const char* name : {"mix", "storages", "faults"}) {
    if (options.given.count(name) != 0) {
      throw BadCommandLine("a race does not take --" + std::string(name));
    }
  }
  if (options.settings.threads < least_race_threads) {
    throw BadCommandLine("a race takes from 2 --threads on");
  }
}

Exit run_workloads(const Options& options) {
  const auto chosen = chosen_workloads(options.workload);
  check_for(chosen, options);
  JsonOutput output(options);
  Console console;
  Json figures = Json::array();
  bool failed = false;
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
    if (!output.is_on_standard_output()) {
      print(text_of(outcome));
    }
    figures.push_back(json_of(outcome));
    failed = failed || !outcome.failures.empty();
  }
  output.write(figures);
  return failed ? something_wrong : all_right;
}

Exit run_soak(const Options& options) {
  JsonOutput output(options);
  Console console;
  const Soak soaked = soak(options.settings, options.soak_duration, console);
  console.clear();
  if (!output.is_on_standard_output()) {
    print(text_of(soaked));
  }
  output.write(json_of(soaked));
  return soaked.lost.empty() ? all_right : something_wrong;
}

std::vector<const seeded_bugs::Bug*> chosen_bugs(const std::string& name) {
  try {
    return seeded_bugs::bugs_named(name);
  } catch (const std::invalid_argument& error) {
    throw BadCommandLine(error.what());
  }
}

Exit run_seeded_bugs(const Options& options) {
  seeded_bugs::DetectionSettings settings{.seed = options.settings.seed,
                                 .threads = options.settings.threads};
  settings.rounds = options.rounds.value_or(settings.rounds);
  settings.seeds = options.seeds.value_or(settings.seeds);
  const auto bugs = chosen_bugs(options.seeded_bugs);
  JsonOutput output(options);
  const bool is_silent = output.is_on_standard_output();
  const auto say = [&](const std::string& text) {
    if (!is_silent) {
      print(text);
    }
  };
  say(seeded_bugs::head_of_table(settings));
  std::vector<seeded_bugs::Detection> detections;
  for (const seeded_bugs::Bug* bug : bugs) {
    detections.push_back(seeded_bugs::detect(*bug, settings));
    say(seeded_bugs::row_of(detections.back()));
  }
  say(seeded_bugs::foot_of_table(detections));
  output.write(seeded_bugs::json_of(settings, detections));
  const bool all_caught = std::ranges::all_of(detections, &seeded_bugs::Detection::is_as_expected);
  return all_caught && seeded_bugs::perturbation_helps(detections) ? all_right : something_wrong;
}

Exit list() {
  std::string text = "workloads:\n";
  for (const Workload& workload : all_workloads()) {
    text += "  " + std::string(workload.name) + std::string(32 - workload.name.size(), ' ') +
            std::string(workload.shows) + '\n';
  }
  text += "seeded bugs:\n";
  for (const seeded_bugs::Bug& bug : seeded_bugs::all_bugs()) {
    text += "  " + std::string(bug.name) + std::string(32 - bug.name.size(), ' ') +
            std::string(bug.is_wrong_in) + '\n';
  }
  print(text + "operations of --mix, as they are usually: " + text_of(usual_mix()) + '\n');
  return all_right;
}

Exit dispatch(const Options& options) {
  switch (options.mode) {
    case Mode::help:
      print(help_text());
      return all_right;
    case Mode::list:
      return list();
    case Mode::run:
      return run_workloads(options);
    case Mode::soak:
      return run_soak(options);
    case Mode::seeded_bugs:
      return run_seeded_bugs(options);
  }
  throw BadCommandLine("it is not said what to do");
}

int complain(const char* text, Exit code) {
  std::fprintf(stderr, "byre-stress: %s.\n", text);
  if (code == wrong_usage) {
    std::fprintf(stderr, "See byre-stress --help.\n");
  }
  return code;
}

int guarded_main(int argc, const char* const* argv) {
  try {
    Options options = parse(argc, argv);
    if (options.given.count("seed") == 0) {
      options.settings.seed = std::random_device{}();
    }
    return dispatch(options);
  } catch (const BadCommandLine& error) {
    return complain(error.what(), wrong_usage);
  } catch (const std::bad_alloc&) {
    return complain("out of memory. Give fewer --storages or smaller --sizes", something_wrong);
  } catch (const std::exception& error) {
    return complain(error.what(), something_wrong);
  }
}

}  // namespace
}  // namespace byre::stress

int main(int argc, char** argv) {
  return byre::stress::guarded_main(argc, argv);
}
