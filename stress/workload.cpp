// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <atomic>
#include <exception>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "linearizability/histories.hpp"
#include "mixed/run.hpp"
#include "races/race.hpp"
#include "thread_group.hpp"

namespace byre::stress {
namespace {

/// The mix for several threads. Steps on shared values are more frequent than usual, so that
/// threads often access one value at once.
programs::Mix mix_of_threads() {
  programs::Mix mix = programs::usual_mix();
  for (const char* step :
       {"hand", "take", "place_read", "place_clone", "place_put", "place_steal"}) {
    mix[step] *= 10;
  }
  return mix;
}

Outcome run_programs(const char* name, Settings settings, const programs::Mix& mix) {
  settings.mix = settings.mix.value_or(mix);
  // With two tiles per node, few tiles make a high table.
  return settings.perturbation == no_perturbation
             ? Run<programs::Types<sync::Default, 32>>(name, settings).complete()
             : Run<programs::Types<Perturbed, 2, Unperturbed>>(name, settings).complete();
}

/// Runs and supervises a race on a separate thread. One round counts as one operation of each
/// thread.
class RaceRun {
 public:
  RaceRun(const Race& race, const Settings& settings)
      : race_(race),
        settings_(settings),
        logs_(settings_.threads),
        supervisor_(
            std::string(race.name), settings_, [this] { return operations(); },
            [this] { return programs::lines_of(logs_); }) {}

  Outcome complete() {
    {
      ThreadGroup racing([this] { stop_.request_stop(); });
      racing.start([this] {
        try {
          result_ = race_.run(race_settings());
        } catch (...) {
          error_ = std::current_exception();
        }
        // Release pairs with the load below: the result is complete.
        is_over_.store(true, std::memory_order_release);
        supervisor_.wake();
      });
      while (!is_over_.load(std::memory_order_acquire)) {
        if (supervisor_.wait()) {
          stop_.request_stop();
        }
      }
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
    return outcome();
  }

 private:
  RaceSettings race_settings() {
    return {
        .seed = settings_.seed,
        .threads = settings_.threads,
        .rounds = settings_.operations.value_or(std::numeric_limits<std::uint64_t>::max()),
        .repeats_history = settings_.repeats_history,
        .perturbation = settings_.perturbation,
        .stop = stop_.get_token(),
        .after_round =
            [this](const RaceResult& result) {
              // Relaxed: a number for display only.
              operations_.store(result.counts.operations(), std::memory_order_relaxed);
            },
        .logs = logs_.data(),
    };
  }

  std::uint64_t operations() const noexcept { return operations_.load(std::memory_order_relaxed); }

  Outcome outcome() const {
    Outcome outcome = supervisor_.outcome();
    outcome.operations = result_.counts.operations();
    outcome.rounds = result_.rounds;
    outcome.delays = result_.delays;
    outcome.figures = result_.figures;
    outcome.failures = result_.failures;
    if (!outcome.failures.empty() && outcome.figures.empty()) {  // a history is complete as it is
      const auto last = programs::lines_of(logs_);
      outcome.failures.insert(outcome.failures.end(), last.begin(), last.end());
    }
    return outcome;
  }

  const Race& race_;
  const Settings settings_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> operations_{0};
  std::atomic<bool> is_over_{false};
  RaceResult result_;
  std::exception_ptr error_;  // null unless the race threw
  std::vector<programs::Log> logs_;
  Supervisor supervisor_;
};

}  // namespace

std::span<const Workload> all_workloads() {
  static const auto workloads = [] {
    std::vector<Workload> all{
        {.name = "mixed",
         .shows = "programs over all kinds of storages, in many threads",
         .run =
             [](const Settings& settings) {
               return run_programs("mixed", settings, programs::without_faults(mix_of_threads()));
             }},
        {.name = "faults",
         .shows = "like mixed, with failing allocations, copies and sinks",
         .run =
             [](const Settings& settings) {
               return run_programs("faults", settings, mix_of_threads());
             }},
    };
    for (const std::span<const Race> races : {all_races(), all_histories()}) {
      for (const Race& race : races) {
        all.push_back({.name = race.name,
                       .shows = race.shows,
                       .is_race = true,
                       .run = [&race](const Settings& settings) {
                         return RaceRun(race, settings).complete();
                       }});
      }
    }
    return all;
  }();
  return workloads;
}

std::vector<const Workload*> workloads_named(const std::string& name) {
  std::vector<const Workload*> chosen;
  for (const Workload& workload : all_workloads()) {
    if (name == "all" || name == workload.name) {
      chosen.push_back(&workload);
    }
  }
  if (chosen.empty()) {
    throw std::invalid_argument("unknown workload '" + name + "'. Pass a name of --list, or all");
  }
  return chosen;
}

}  // namespace byre::stress
