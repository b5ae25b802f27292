// SPDX-License-Identifier: BSL-1.0
/// Run: runs a program in each of many threads. The programs share data and pass it to each other.
/// They run in slices of some thousand steps; between slices, while no thread runs, all values and
/// counters are checked.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "../programs/program.hpp"
#include "../supervisor.hpp"
#include "../thread_group.hpp"

namespace byre::stress {

/// Turns delays off while results are compared, so that only the steps are delayed.
struct Unperturbed : ScopedPerturbation {
  Unperturbed() : ScopedPerturbation(no_perturbation, 0) {}
};

/// Used by one thread. At most one run exists at a time, because byre's counters count the whole
/// process.
template <class T>
class Run {
 public:
  Run(std::string workload, const Settings& settings,
      std::chrono::seconds hang_timeout = default_hang_timeout)
      : settings_(settings),
        shared_(settings.threads),
        logs_(settings.threads),
        supervisor_(
            std::move(workload), settings, [this] { return done(); },
            [this] { return programs::lines_of(logs_); }, hang_timeout) {
    constexpr std::size_t tile_sizes[] = {16, 1, page_nbytes};
    // Sizes are not too small, because a copy of a few bytes ends before another thread can
    // interfere.
    const programs::Limits limits{.mix = *settings.mix,
                                  .slots = settings.slots,
                                  .most_nbytes = settings.most_nbytes,
                                  .small_of_256 = 32,
                                  .tile_nbytes = tile_sizes[settings.seed % 3]};
    for (unsigned thread = 0; thread < settings.threads; ++thread) {
      workers_.emplace_back(programs::Choices(seed_of_thread(settings.seed, thread)), memory_,
                            shared_, thread, limits);
      workers_.back().program.state().share();
    }
  }

  Outcome complete() {
    const std::atomic<std::uint64_t>& warnings = warnings_counted();
    const std::uint64_t warnings_before = warnings;
    const auto handler_before =
        set_warning_handler([](const char*) noexcept { ++warnings_counted(); });
    {
      const stats::InstalledSink sink(&programs::Program<T>::on_copy);
      for (std::uint64_t left = settings_.operations.value_or(unlimited); left != 0 && !stop_;) {
        const std::uint64_t steps = std::min(left, slice_steps);
        run_in_threads([this, steps](Worker& worker) { run(worker, steps); });
        check_all();
        left -= left == unlimited ? 0 : steps;
      }
      run_in_threads([](Worker& worker) { worker.program.end(); });
    }
    set_warning_handler(handler_before);
    shared_.clear();
    check_counts(warnings - warnings_before);
    if (memory_.count_mapped_files() != 0) {
      programs::fail("a file is still mapped");
    }
    if (BYRE_STATS != 0 && supervisor_.counters().live_bytes != 0) {
      programs::fail("%lld more live bytes than at the start",
                     static_cast<long long>(supervisor_.counters().live_bytes));
    }
    return outcome();
  }

 private:
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t slice_steps = 4096;

  struct Worker {
    template <class... Arguments>
    explicit Worker(Arguments&&... arguments) : program(std::forward<Arguments>(arguments)...) {}

    programs::Program<T> program;
    std::atomic<std::uint64_t> done{0};
    std::uint64_t delays = 0;
  };

  static std::atomic<std::uint64_t>& warnings_counted() noexcept {
    static constinit std::atomic<std::uint64_t> warnings{0};
    return warnings;
  }

  /// The atomic accesses are relaxed, because the exact step at which a run stops does not matter.
  void run(Worker& worker, std::uint64_t steps) {
    for (; steps != 0 && !stop_.load(std::memory_order_relaxed); --steps) {
      worker.program.step();
      worker.done.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Calls act(worker) in a separate thread for each worker. Returns when all threads have ended.
  template <class Act>
  void run_in_threads(Act act) {
    std::atomic<std::size_t> running = workers_.size();
    bool all_are_started = false;
    ThreadGroup threads([&] { stop_ = stop_ || !all_are_started; });
    for (Worker& worker : workers_) {
      threads.start([this, &worker, &running, act] {
        // The first allocation creates the thread cache, before a fault may be injected.
        (void)T::Buffer::allocate(1);
        const std::size_t thread = worker.program.state().thread;
        programs::Log::use(&logs_[thread]);
        {
          const ScopedPerturbation perturbs(settings_.perturbation,
                                            seed_of_thread(settings_.seed + worker.done, thread));
          const std::uint64_t delays_before = delays_of_this_thread();
          act(worker);
          worker.delays += delays_of_this_thread() - delays_before;
        }
        programs::Log::use(nullptr);
        --running;
        supervisor_.wake();
      });
    }
    all_are_started = true;
    while (running != 0) {
      stop_ = supervisor_.wait() || stop_;
    }
  }

  /// Checks owners, sharing and counts, which are exact because no thread runs.
  void check_all() {
    ++checkpoints_;
    for (Worker& worker : workers_) {
      worker.program.state().others_are_paused = true;
      check_slots(worker.program.state());
      worker.program.state().others_are_paused = false;
    }
    check_counts(std::nullopt);
    if (default_pool().idle_nbytes() > default_pool().limit_nbytes()) {
      programs::fail("the pool retains %zu bytes, beyond its limit", default_pool().idle_nbytes());
    }
  }

  void check_counts(std::optional<std::uint64_t> warnings) {
    memory_.check();
    programs::Predictions sum;
    std::size_t thrown = 0;
    for (Worker& worker : workers_) {
      sum += worker.program.state().predictions;
      thrown += worker.program.state().thrown;
    }
    if (BYRE_STATS != 0) {
      check_counters(supervisor_.counters(), sum);
    }
    if (warnings && *warnings != thrown) {
      programs::fail("sinks threw %zu times, but there were %llu warnings", thrown,
                     static_cast<unsigned long long>(*warnings));
    }
  }

  std::uint64_t done() const {
    std::uint64_t sum = 0;
    for (const Worker& worker : workers_) {
      sum += worker.done.load(std::memory_order_relaxed);
    }
    return sum;
  }

  Outcome outcome() {
    Outcome outcome = supervisor_.outcome();
    outcome.rounds = checkpoints_ + 1;
    for (Worker& worker : workers_) {
      outcome.faults += worker.program.state().faults.injected() + worker.program.state().thrown;
      outcome.delays += worker.delays;
    }
    return outcome;
  }

  const Settings settings_;
  // The limit is so small that the pool continually recycles, evicts and unmaps blocks.
  RecyclingPool pool_{std::size_t{32} << 20};
  programs::Memory memory_{pool_};
  programs::Shared<T> shared_;
  std::vector<programs::Log> logs_;
  std::deque<Worker> workers_;
  std::atomic<bool> stop_{false};
  Supervisor supervisor_;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace byre::stress
