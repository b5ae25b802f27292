// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <boost/atomic/atomic.hpp>

#include <exception>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "../supervisor.hpp"
#include "../thread_group.hpp"

namespace byre::stress {
namespace {

/// Runs a race on a thread of its own, and supervises it.
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
        is_over_.store(true, boost::memory_order_release);
        supervisor_.wake();
      });
      while (!is_over_.load(boost::memory_order_acquire)) {
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
        .perturbation = settings_.perturbation,
        .stop = stop_.get_token(),
        .after_round =
            [this](const RaceResult& result) {
              // Relaxed: only a number to show.
              operations_.store(result.counts.operations(), boost::memory_order_relaxed);
            },
        .logs = logs_.data(),
    };
  }

  std::uint64_t operations() const noexcept {
    return operations_.load(boost::memory_order_relaxed);
  }

  Outcome outcome() const {
    Outcome outcome = supervisor_.outcome();
    outcome.operations = result_.counts.operations();
    outcome.rounds = result_.rounds;
    outcome.delays = result_.delays;
    outcome.failures = result_.failures;
    if (!outcome.failures.empty()) {
      const auto last = programs::lines_of(logs_);
      outcome.failures.insert(outcome.failures.end(), last.begin(), last.end());
    }
    return outcome;
  }

  const Race& race_;
  const Settings settings_;
  std::stop_source stop_;
  boost::atomic<std::uint64_t> operations_{0};
  boost::atomic<bool> is_over_{false};
  RaceResult result_;
  std::exception_ptr error_;  // of a race that could not be run
  std::vector<programs::Log> logs_;
  Supervisor supervisor_;
};

}  // namespace

Outcome run_race(const Race& race, const Settings& settings) {
  return RaceRun(race, settings).complete();
}

}  // namespace byre::stress
