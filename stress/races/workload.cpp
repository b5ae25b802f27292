// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <byre/stats/counters.hpp>

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <stop_token>
#include <string>

#include "../crew.hpp"
#include "../world/hang.hpp"

namespace byre::stress {
namespace {

constexpr std::size_t small_nbytes = 256;

/// With the rest as usual, so that what is reported, and repeats the run, is what it was.
Settings only_what_races_take(Settings settings) {
  const Settings usual;
  settings.threads = std::max(settings.threads, least_race_threads);
  settings.storages = usual.storages;
  settings.mix = usual.mix;
  settings.faults = usual.faults;
  return settings;
}

/// Runs a race on a thread of its own, and looks on.
class RaceRun {
 public:
  RaceRun(const Race& race, const Settings& settings, Watch& watch)
      : race_(race),
        settings_(only_what_races_take(settings)),
        watch_(watch),
        steps_(settings_.threads),
        last_words_(command_of(std::string(race.name), settings_),
                    [this] { return steps_.lines(); }),
        hang_(last_words_) {}

  Outcome complete() {
    {
      Crew racing([this] { stop_.request_stop(); });
      racing.start([this] {
        try {
          const bool is_word = settings_.protocol == Protocol::word;
          result_ = (is_word ? race_.run : race_.run_textbook)(race_settings());
        } catch (...) {
          error_ = std::current_exception();
        }
        // Release pairs with look_on(): the result is complete.
        is_over_.store(true, boost::memory_order_release);
        watch_.wake();
      });
      look_on();
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
    return outcome();
  }

 private:
  using Clock = std::chrono::steady_clock;

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
              // Relaxed: a number to look at.
              operations_.store(result.operations, boost::memory_order_relaxed);
            },
        .steps = &steps_,
    };
  }

  void look_on() {
    while (!is_over_.load(boost::memory_order_acquire)) {
      watch_.wait();
      watch_.show({race_.name, seconds(), operations(), counted()});
      const bool timed_out = !settings_.operations && Clock::now() - begun_ >= settings_.duration;
      if (timed_out || watch_.wants_to_end()) {
        stop_.request_stop();
      }
      hang_.look(operations());
    }
  }

  std::uint64_t operations() const noexcept {
    return operations_.load(boost::memory_order_relaxed);
  }
  stats::Counters counted() const { return stats::snapshot() - before_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  Outcome outcome() const {
    Outcome outcome;
    outcome.workload = race_.name;
    outcome.settings = settings_;
    outcome.seconds = seconds();
    outcome.operations = result_.operations;
    outcome.counted = counted();
    outcome.checkpoints = result_.rounds;
    outcome.failures = result_.failures;
    if (!outcome.failures.empty()) {
      outcome.last_operations = steps_.lines();
    }
    Tally& tally = outcome.tally;
    tally.lazy_clones = result_.lazy_clones;
    tally.copied = result_.copies;
    tally.stole = result_.steals;
    tally.already_unique = result_.writes_in_place;
    tally.bytes_copied = static_cast<std::uint64_t>(outcome.counted.bytes_copied);
    tally.delays = result_.delays;
    return outcome;
  }

  const Race& race_;
  const Settings settings_;
  Watch& watch_;
  const stats::Counters before_ = stats::snapshot();
  const Clock::time_point begun_ = Clock::now();
  std::stop_source stop_;
  boost::atomic<std::uint64_t> operations_{0};
  boost::atomic<bool> is_over_{false};
  RaceResult result_;
  std::exception_ptr error_;  // of the race, which could then not be run
  races::Steps steps_;
  const LastWords last_words_;
  Hang hang_;
};

}  // namespace

Outcome run_race(const Race& race, const Settings& settings, Watch& watch) {
  return RaceRun(race, settings, watch).complete();
}

}  // namespace byre::stress
