// SPDX-License-Identifier: BSL-1.0
#include "soak.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

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
  explicit SoakRun(const Settings& settings) : settings_(settings) {
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
    soak_.seconds = Seconds(Clock::now() - begun_).count();
    if (soak_.rotations >= 2 && can_judge_growth()) {
      const auto grown = growth(soak_.at_start, soak_.at_end);
      soak_.failures.insert(soak_.failures.end(), grown.begin(), grown.end());
    }
    return std::move(soak_);
  }

 private:
  bool is_over() const {
    return soak_.rotations >= 2 &&
           (settings_.operations || Clock::now() - begun_ >= settings_.duration);
  }

  /// False if it was ended early.
  bool rotate() {
    for (std::size_t at = 0; at < all_workloads().size(); ++at) {
      for (const Variant& variant : variants) {
        run(at, variant);
        if (stop_requested() || !soak_.failures.empty()) {
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
    const Outcome outcome = all_workloads()[at].run(settings);
    SoakedWorkload& soaked = soak_.workloads[at];
    ++soaked.runs;
    soaked.operations += outcome.operations;
    soaked.faults += outcome.faults;
    soaked.delays += outcome.delays;
    if (!outcome.failures.empty()) {
      soak_.failures.push_back(text_of(outcome));
    }
  }

  /// Eight rotations show what grows. A run takes a moment to set up.
  Seconds slice() const {
    const auto runs = static_cast<double>(8 * all_workloads().size() * std::size(variants));
    return std::clamp(settings_.duration / runs, Seconds(1), Seconds(60));
  }

  const Settings settings_;
  const Clock::time_point begun_ = Clock::now();
  std::uint64_t runs_ = 0;
  Soak soak_;
};

}  // namespace

Soak soak(const Settings& settings) {
  return SoakRun(settings).complete();
}

std::string text_of(const Soak& soak) {
  std::ostringstream page;
  page << "soak: seed " << soak.seed << ", " << std::fixed << std::setprecision(1)
       << soak.seconds / 60 << " minutes, " << soak.rotations << " rotations\n\n";
  const auto row = [&](const auto& name, const auto&... columns) {
    page << std::left << std::setw(32) << name << std::right;
    ((page << std::setw(16) << columns), ...);
    page << '\n';
  };
  row("workload", "runs", "operations", "faults", "delays");
  for (const SoakedWorkload& each : soak.workloads) {
    row(each.name, each.runs, each.operations, each.faults, each.delays);
  }
  page << '\n';
  row("trimmed", "first rotation", "end");
  row("bytes in use", soak.at_start.heap_nbytes, soak.at_end.heap_nbytes);
  row("bytes resident", soak.at_start.resident_nbytes, soak.at_end.resident_nbytes);
  row("mappings", soak.at_start.mappings, soak.at_end.mappings);
  row("open files", soak.at_start.files, soak.at_end.files);
  if (soak.rotations < 2 || !can_judge_growth()) {
    page << "not judged: a sanitizer keeps what is freed, or the second rotation did not end\n";
  }
  page << "\nfailures: " << (soak.failures.empty() ? "none" : "") << '\n';
  for (const std::string& failure : soak.failures) {
    page << failure << '\n';
  }
  return page.str();
}

}  // namespace byre::stress
