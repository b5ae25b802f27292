// SPDX-License-Identifier: BSL-1.0
#include "soak.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "../workload.hpp"

namespace byre::stress {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Each workload is run with all of these.
struct Variant {
  Perturbation perturbation;
  bool with_most_threads;
};
constexpr Variant variants[] = {
    {no_perturbation, false}, {usual_perturbation, false}, {usual_perturbation, true}};

class SoakRun {
 public:
  explicit SoakRun(const Settings& settings) : settings_(settings) {}

  bool complete() {
    pin_malloc_thresholds();
    Resources before;
    for (; !is_over() && rotate(); ++rotations_) {
      if (rotations_ == 0) {
        before = resources_after_trimming();
      }
    }
    for (const Outcome& sum : sums_) {
      std::printf("%s", text_of(sum).c_str());
    }
    const Resources after = resources_after_trimming();
    std::printf("%llu rotations; bytes in use: %llu after the first, %llu at the end\n",
                static_cast<unsigned long long>(rotations_),
                static_cast<unsigned long long>(before.heap_nbytes),
                static_cast<unsigned long long>(after.heap_nbytes));
    if (rotations_ < 2 || !can_judge_growth()) {
      std::printf(
          "not judged: a sanitizer keeps what is freed, or the second rotation did not end\n");
      return !has_failed_;
    }
    for (const std::string& grown : growth(before, after)) {
      std::printf("FAILED: %s\n", grown.c_str());
      has_failed_ = true;
    }
    return !has_failed_;
  }

 private:
  bool is_over() const {
    return rotations_ >= 2 && (settings_.operations || Clock::now() - begun_ >= settings_.duration);
  }

  /// False if it was ended early.
  bool rotate() {
    for (std::size_t at = 0; at < sums_.size(); ++at) {
      for (const Variant& variant : variants) {
        run(at, variant);
        if (stop_requested() || has_failed_) {
          return false;
        }
      }
    }
    return true;
  }

  void run(std::size_t at, const Variant& variant) {
    Settings settings = settings_;
    settings.seed = seed_of_thread(settings_.seed, runs_++);
    settings.duration = slice();
    settings.perturbation = variant.perturbation;
    settings.threads = variant.with_most_threads ? most_threads : settings.threads;
    Outcome outcome = all_workloads()[at].run(settings);
    has_failed_ = !outcome.failures.empty();
    Outcome& sum = sums_[at];
    if (!has_failed_) {  // else the outcome has the command that repeats it
      outcome.settings = settings_;
      outcome.seconds += sum.seconds;
      outcome.operations += sum.operations;
      outcome.rounds += sum.rounds;
      outcome.faults += sum.faults;
      outcome.delays += sum.delays;
      outcome.counters = outcome.counters - (stats::Counters() - sum.counters);
    }
    sum = std::move(outcome);
  }

  /// Eight rotations show what grows. A run takes a moment to set up.
  Seconds slice() const {
    const auto runs = static_cast<double>(8 * sums_.size() * std::size(variants));
    return std::clamp(settings_.duration / runs, Seconds(1), Seconds(60));
  }

  const Settings settings_;
  const Clock::time_point begun_ = Clock::now();
  std::uint64_t runs_ = 0;
  std::uint64_t rotations_ = 0;
  std::vector<Outcome> sums_ = std::vector<Outcome>(all_workloads().size());
  bool has_failed_ = false;
};

}  // namespace

bool soak(const Settings& settings) {
  return SoakRun(settings).complete();
}

}  // namespace byre::stress
