// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <stop_token>
#include <string>

#include "../supervisor.hpp"
#include "../thread_group.hpp"

namespace byre::stress {
namespace {

constexpr std::size_t small_nbytes = 256;

/// All other settings are the usual ones, so that the command that repeats the run is valid.
Settings only_what_races_take(Settings settings) {
  const Settings usual;
  settings.threads = std::max(settings.threads, least_race_threads);
  settings.storages = usual.storages;
  settings.mix = usual.mix;
  settings.faults = usual.faults;
  return settings;
}

/// Runs a race on a thread of its own, and supervises it.
class RaceRun {
 public:
  RaceRun(const Race& race, const Settings& settings, Monitor& monitor)
      : race_(race),
        settings_(only_what_races_take(settings)),
        monitor_(monitor),
        step_log_(settings_.threads),
        supervisor_(
            std::string(race.name), settings_, monitor, [this] { return operations(); },
            [this] { return step_log_.lines(); }) {}

  Outcome complete() {
    {
      ThreadGroup racing([this] { stop_.request_stop(); });
      racing.start([this] {
        try {
          const bool is_word = settings_.protocol == Protocol::word;
          result_ = (is_word ? race_.run : race_.run_textbook)(race_settings());
        } catch (...) {
          error_ = std::current_exception();
        }
        // Release pairs with the load below: the result is complete.
        is_over_.store(true, boost::memory_order_release);
        monitor_.wake();
      });
      while (!is_over_.load(boost::memory_order_acquire)) {
        if (supervisor_.wait_and_show()) {
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
        .nbytes =
            std::clamp(small_nbytes, settings_.sizes.least_nbytes, settings_.sizes.most_nbytes),
        .perturbation = settings_.perturbation,
        .stop = stop_.get_token(),
        .after_round =
            [this](const RaceResult& result) {
              // Relaxed: only a number to show.
              operations_.store(result.operations, boost::memory_order_relaxed);
            },
        .step_log = &step_log_,
    };
  }

  std::uint64_t operations() const noexcept {
    return operations_.load(boost::memory_order_relaxed);
  }

  Outcome outcome() const {
    Outcome outcome = supervisor_.outcome();
    outcome.operations = result_.operations;
    outcome.checkpoints = result_.rounds;
    outcome.failures = result_.failures;
    if (!outcome.failures.empty()) {
      outcome.last_operations = step_log_.lines();
    }
    Counts& counts = outcome.counts;
    counts.lazy_clones = result_.lazy_clones;
    counts.copied = result_.copies;
    counts.stole = result_.steals;
    counts.already_unique = result_.writes_in_place;
    counts.bytes_copied = static_cast<std::uint64_t>(outcome.counters.bytes_copied);
    counts.delays = result_.delays;
    return outcome;
  }

  const Race& race_;
  const Settings settings_;
  Monitor& monitor_;
  std::stop_source stop_;
  boost::atomic<std::uint64_t> operations_{0};
  boost::atomic<bool> is_over_{false};
  RaceResult result_;
  std::exception_ptr error_;  // of a race that could not be run
  races::StepLog step_log_;
  Supervisor supervisor_;
};

}  // namespace

Outcome run_race(const Race& race, const Settings& settings, Monitor& monitor) {
  return RaceRun(race, settings, monitor).complete();
}

}  // namespace byre::stress
