// SPDX-License-Identifier: BSL-1.0
#include "soak.hpp"

#include <byre/memory/pool.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "../workload.hpp"
#include "support/heap_nbytes.hpp"
#include "support/open_files.hpp"
#include "support/sanitized.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace byre::stress {
namespace {

/// The value of a line of /proc/self/status such as "VmHWM:   1234 kB".
std::uint64_t status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::uint64_t value = 0;
  for (std::string word; file >> word;) {
    if (word == key + ":" && file >> value) {
      return value;
    }
  }
  return 0;
}

/// The number of open files. Always includes byre's page file, which does not exist at all times: a
/// fork closes it, and byre creates it again when pages are next needed.
std::uint64_t open_files() {
  std::uint64_t page_files = 0;
  std::uint64_t others = 0;
  for (const auto& [number, name] : test::open_files()) {
    ++(test::is_memory_file(name) ? page_files : others);
  }
  return others + std::max<std::uint64_t>(page_files, 1);
}

/// Makes malloc return freed memory to the system. By default, its thresholds grow with the largest
/// block so far, and the arena of each thread retains up to 64 MiB that malloc_trim() does not
/// reach. Call before threads start.
void fix_malloc_thresholds() {
#if defined(__GLIBC__)
  constexpr int usual_threshold = 128 << 10;
  mallopt(M_MMAP_THRESHOLD, usual_threshold);  // setting it also stops its adaptation
  mallopt(M_TRIM_THRESHOLD, usual_threshold);
#endif
}

/// Trims the default pool, the cache of this thread and malloc, then returns the resources.
Resources resources_after_trimming() {
  default_pool().trim();
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  return {.resident_nbytes = status("VmRSS") * 1024,
          .heap_nbytes = test::heap_nbytes().value_or(0),
          .mappings = test::count_mappings([](const auto&) { return true; }),
          .files = open_files(),
          .threads = status("Threads")};
}

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A kind of run. A soak runs each workload once in each variant per rotation.
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
    fix_malloc_thresholds();
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
    std::printf("%llu rotations; heap bytes: %llu after the first, %llu at the end\n",
                static_cast<unsigned long long>(rotations_),
                static_cast<unsigned long long>(before.heap_nbytes),
                static_cast<unsigned long long>(after.heap_nbytes));
    if (rotations_ < 2 || test::is_sanitized) {
      std::printf(
          "growth not checked: a sanitizer retains freed memory, or the second rotation did not "
          "end\n");
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

  /// Runs all workloads once. Returns false if the rotation did not complete.
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
    if (!has_failed_) {  // a failed outcome retains its settings, for the command that repeats it
      outcome.settings = settings_;
      outcome.figures.clear();  // they are those of one run
      outcome.seconds += sum.seconds;
      outcome.operations += sum.operations;
      outcome.rounds += sum.rounds;
      outcome.faults += sum.faults;
      outcome.delays += sum.delays;
      outcome.counters = outcome.counters - (stats::Counters() - sum.counters);
    }
    sum = std::move(outcome);
  }

  /// The duration of one run. It is chosen such that a soak has eight rotations, which are enough
  /// to show growth, but is at least a second, because a run takes time to set up.
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

std::vector<std::string> growth(const Resources& before, const Resources& after) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  constexpr std::uint64_t mappings_of_arenas = 256;
  std::vector<std::string> grown;
  const auto judge = [&](const char* what, std::uint64_t was, std::uint64_t is,
                         std::uint64_t allowed) {
    if (is > was + allowed) {
      grown.push_back(std::string(what) + " grew from " + std::to_string(was) + " to " +
                      std::to_string(is) + ", allowed growth " + std::to_string(allowed));
    }
  };
  judge("heap bytes", before.heap_nbytes, after.heap_nbytes, mebibyte);
  judge("resident bytes", before.resident_nbytes, after.resident_nbytes, 16 * mebibyte);
  judge("mappings", before.mappings, after.mappings, mappings_of_arenas);
  judge("open files", before.files, after.files, 0);
  judge("threads", before.threads, after.threads, 0);
  return grown;
}

bool soak(const Settings& settings) {
  return SoakRun(settings).complete();
}

}  // namespace byre::stress
