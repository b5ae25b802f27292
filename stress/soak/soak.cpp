// SPDX-License-Identifier: BSL-1.0
#include "soak.hpp"

#include <algorithm>

#include "../report/report.hpp"
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
  SoakRun(const Settings& settings, std::chrono::minutes duration, Monitor& monitor)
      : settings_(settings), duration_(duration), monitor_(monitor) {
    pin_malloc_thresholds();
    soak_.seed = settings.seed;
    for (const Workload& workload : all_workloads()) {
      soak_.workloads.push_back({std::string(workload.name)});
    }
  }

  Soak complete() {
    while (!is_over() && rotate()) {
      if (++soak_.rotations == 1) {
        soak_.at_start = resources_after_trimming();
      }
    }
    soak_.at_end = resources_after_trimming();
    soak_.peak_nbytes = peak_resident_nbytes();
    soak_.seconds = Seconds(Clock::now() - begun_).count();
    if (soak_.rotations >= 2 && can_judge_growth()) {
      const auto grown = growth(soak_.at_start, soak_.at_end);
      soak_.failures.insert(soak_.failures.end(), grown.begin(), grown.end());
    }
    return std::move(soak_);
  }

 private:
  bool is_over() const {
    return soak_.rotations >= 2 && (settings_.operations || Clock::now() - begun_ >= duration_);
  }

  /// False if it was ended early.
  bool rotate() {
    for (std::size_t at = 0; at < all_workloads().size(); ++at) {
      for (const Variant& variant : variants) {
        run(at, variant);
        if (monitor_.stop_requested() || !soak_.failures.empty()) {
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
    settings.faults = all_workloads()[at].usual_faults;
    const Outcome outcome = all_workloads()[at].run(settings, monitor_);
    SoakedWorkload& soaked = soak_.workloads[at];
    ++soaked.runs;
    soaked.operations += outcome.operations;
    soaked.rounds += outcome.digest ? 0 : outcome.checkpoints;
    soaked.counts += outcome.counts;
    if (!outcome.failures.empty()) {
      soak_.failures.push_back(text_of(outcome));
    }
  }

  /// Eight rotations show what grows. A run takes a moment to set up.
  Seconds slice() const {
    const auto runs = static_cast<double>(8 * all_workloads().size() * std::size(variants));
    return std::clamp(Seconds(duration_) / runs, Seconds(1), Seconds(60));
  }

  const Settings settings_;
  const std::chrono::minutes duration_;
  Monitor& monitor_;
  const Clock::time_point begun_ = Clock::now();
  std::uint64_t runs_ = 0;
  Soak soak_;
};

}  // namespace

Soak soak(const Settings& settings, std::chrono::minutes duration, Monitor& monitor) {
  return SoakRun(settings, duration, monitor).complete();
}

}  // namespace byre::stress
