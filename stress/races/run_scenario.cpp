// SPDX-License-Identifier: BSL-1.0
#include "run_scenario.hpp"

#include <byre/config.hpp>
#include <byre/observe/counters.hpp>

#include <atomic>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>

#include "../perturbed/perturbed.hpp"
#include "../thread_group.hpp"
#include "spin_barrier.hpp"

namespace byre::stress::races {
namespace {

void check_settings(const RaceSettings& settings) {
  if (settings.threads < least_race_threads || settings.threads > most_threads) {
    throw std::invalid_argument("cannot run a race: " + std::to_string(settings.threads) +
                                " threads, allowed 2 to 64");
  }
  if (settings.nbytes == 0) {
    throw std::invalid_argument("cannot run a race: buffers of 0 bytes, required at least 1");
  }
}

class ScenarioRun {
 public:
  ScenarioRun(const RaceSettings& settings, const MakeScenario& make)
      : settings_(settings),
        fixture_(settings),
        scenario_(make(fixture_)),
        start_(settings.threads),
        finish_(settings.threads) {}

  RaceResult run() {
    {
      // No thread may enter a barrier before all threads have started.
      std::promise<bool> begins;
      const std::shared_future<bool> begun = begins.get_future().share();
      bool all_are_started = false;
      ThreadGroup others([&] {
        if (!all_are_started) {
          begins.set_value(false);
        }
      });
      for (unsigned thread = 1; thread < settings_.threads; ++thread) {
        others.start([this, thread, begun] {
          if (begun.get()) {
            run_rounds(thread);
          }
        });
      }
      all_are_started = true;
      begins.set_value(true);
      run_rounds(0);
    }
    result_.delays = delays_;
    scenario_->finish(result_);
    return result_;
  }

 private:
  /// Thread 0 also does the work between the end of a round and the start of the next.
  void run_rounds(unsigned thread) {
    const ScopedPerturbation perturbation(settings_.perturbation,
                                          seed_of_thread(settings_.seed, thread));
    const std::uint64_t delays_before = delays_of_this_thread();
    programs::Log::use(settings_.logs != nullptr ? &settings_.logs[thread] : nullptr);
    for (;;) {
      if (thread == 0) {
        const ScopedPerturbation unperturbed(no_perturbation, 0);
        begin_round();
      }
      start_.arrive_and_wait();
      if (over_) {
        break;
      }
      fixture_.record("begins");
      guarded([&] { scenario_->act(thread); });
      finish_.arrive_and_wait();
      if (thread == 0) {
        const ScopedPerturbation unperturbed(no_perturbation, 0);
        end_round();
      }
    }
    // Relaxed: read after the join.
    delays_.fetch_add(delays_of_this_thread() - delays_before, std::memory_order_relaxed);
    programs::Log::use(nullptr);
  }

  void begin_round() {
    over_ = result_.rounds == settings_.rounds || settings_.stop.stop_requested() ||
            fixture_.has_failed();
    if (!over_) {
      ++result_.rounds;
      guarded([this] { scenario_->prepare(); });
      before_ = stats::snapshot();
    }
  }

  void end_round() {
    const RaceCounts counts = fixture_.counts();
    check_counters(counts);
    guarded([this] { scenario_->check(); });
    check_memory();
    result_.counts += counts;
    fixture_.next_round();
    result_.failures = fixture_.failures();
    if (settings_.after_round) {
      settings_.after_round(result_);
    }
  }

  /// Compares the counters of byre with what the threads recorded.
  void check_counters(const RaceCounts& recorded) {
    if (BYRE_STATS == 0 || !fixture_.counts_copies) {
      return;
    }
    const stats::Counters counted = stats::snapshot() - before_;
    const auto expect_equal = [&](std::int64_t is, std::uint64_t expected, const char* what) {
      fixture_.expect_equal(static_cast<std::uint64_t>(is), expected, what);
    };
    expect_equal(counted.lazy_clones, recorded.clones, "lazy clones counted");
    expect_equal(counted.copies, recorded.copied, "copies counted");
    if (fixture_.counts_steals) {
      expect_equal(counted.steals, recorded.stole, "steals counted");
    }
    expect_equal(counted.bytes_copied, recorded.copied * fixture_.nbytes,
                 "bytes counted as copied");
  }

  void check_memory() {
    const Quarantine::Findings findings = fixture_.memory.end_round();
    fixture_.expect_equal(findings.released_twice, 0, "blocks released twice");
    fixture_.expect_equal(findings.used_after_release, 0, "blocks used after their release");
  }

  template <class Act>
  void guarded(Act act) {
    try {
      act();
    } catch (const std::exception& error) {
      fixture_.fail(std::string("unexpected exception: ") + error.what());
    }
  }

  const RaceSettings& settings_;
  Fixture fixture_;
  const std::unique_ptr<Scenario> scenario_;
  SpinBarrier start_;
  SpinBarrier finish_;
  bool over_ = false;  // written by thread 0, between finish_ and start_
  stats::Counters before_;
  std::atomic<std::uint64_t> delays_{0};
  RaceResult result_;
};

}  // namespace

RaceResult run_scenario(const RaceSettings& settings, const MakeScenario& make) {
  check_settings(settings);
  return ScenarioRun(settings, make).run();
}

}  // namespace byre::stress::races
