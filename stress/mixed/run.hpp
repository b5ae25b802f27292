// SPDX-License-Identifier: BSL-1.0
/// Run: programs in many threads, which share data and hand it to each other; the checkpoints at which they are held;
/// and the check at the end.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "../programs/program.hpp"
#include "../supervisor.hpp"
#include "../thread_group.hpp"
#include "safepoint.hpp"

namespace byre::stress {

/// No delays: they are for the steps, not for what compares their results.
struct Undisturbed : ScopedPerturbation {
  Undisturbed() : ScopedPerturbation(no_perturbation, 0) {}
};

/// Used by one thread. One at a time: byre's counters are the process's.
template <class T>
class Run {
 public:
  Run(std::string workload, const Settings& settings,
      std::chrono::seconds hang_timeout = default_hang_timeout)
      : settings_(settings),
        shared_(settings.threads),
        logs_(settings.threads),
        safepoint_(settings.threads, [this] { supervisor_.wake(); }),
        supervisor_(
            std::move(workload), settings, [this] { return done(); },
            [this] { return programs::lines_of(logs_); }, hang_timeout) {
    // Copies of a few bytes end before another thread can meet them.
    const programs::Limits limits{.mix = *settings.mix,
                                  .slots = settings.slots,
                                  .most_nbytes = settings.most_nbytes,
                                  .small_of_256 = 32};
    for (unsigned thread = 0; thread < settings.threads; ++thread) {
      workers_.emplace_back(programs::Choices(seed_of_thread(settings.seed, thread)), memory_,
                            shared_, thread, limits);
    }
  }

  Outcome complete() {
    const std::atomic<std::uint64_t>& warnings = warnings_counted();
    const std::uint64_t warnings_before = warnings;
    const auto handler_before =
        set_warning_handler([](const char*) noexcept { ++warnings_counted(); });
    {
      const stats::InstalledSink sink(&programs::Program<T>::on_copy);
      ThreadGroup threads([this] {
        stop_.store(true, std::memory_order_relaxed);
        safepoint_.release();
      });
      for (Worker& worker : workers_) {
        threads.start([this, &worker] { run(worker); });
      }
      supervise();
    }
    set_warning_handler(handler_before);
    shared_.clear();
    check_counts(warnings - warnings_before);
    if (memory_.count_mapped_files() != 0) {
      programs::fail("a file is still mapped");
    }
    if (BYRE_STATS != 0 && supervisor_.counters().live_bytes != 0) {
      programs::fail("%lld live bytes more than at the start",
                     static_cast<long long>(supervisor_.counters().live_bytes));
    }
    return outcome();
  }

 private:
  using Clock = std::chrono::steady_clock;

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

  void run(Worker& worker) {
    // The first allocation makes the thread cache, while no fault is injected.
    (void)T::Buffer::allocate(1);
    programs::Log::use(&logs_[worker.program.state().thread]);
    worker.program.state().share();
    {
      const ScopedPerturbation perturbs(
          settings_.perturbation, seed_of_thread(settings_.seed, worker.program.state().thread));
      const std::uint64_t delays_before = delays_of_this_thread();
      // Relaxed, both: when exactly it stops does not matter.
      for (std::uint64_t done = 0;
           done != settings_.operations && !stop_.load(std::memory_order_relaxed);) {
        safepoint_.poll();
        worker.program.step();
        worker.done.store(++done, std::memory_order_relaxed);
      }
      worker.program.end();
      worker.delays = delays_of_this_thread() - delays_before;
    }
    programs::Log::use(nullptr);
    safepoint_.detach();
  }

  /// Returns when the threads have ended.
  void supervise() {
    constexpr std::chrono::seconds between_checkpoints{1};
    auto next_checkpoint = Clock::now() + between_checkpoints;
    while (!safepoint_.all_detached()) {
      if (supervisor_.wait()) {
        stop_.store(true, std::memory_order_relaxed);
      } else if (Clock::now() >= next_checkpoint) {
        checkpoint();
        next_checkpoint = Clock::now() + between_checkpoints;
      }
    }
  }

  /// All values are compared while no thread runs, so that owners, sharing and counts are known exactly.
  void checkpoint() {
    safepoint_.request();
    while (!safepoint_.is_reached()) {
      supervisor_.wait();
    }
    ++checkpoints_;
    for (Worker& worker : workers_) {
      worker.program.state().others_are_held = true;
      check_slots(worker.program.state());
      worker.program.state().others_are_held = false;
    }
    check_counts(std::nullopt);
    if (default_pool().idle_nbytes() > default_pool().limit_nbytes()) {
      programs::fail("the pool keeps %zu bytes, beyond its limit", default_pool().idle_nbytes());
    }
    safepoint_.release();
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
      programs::fail("sinks threw %zu times, and there were %llu warnings", thrown,
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
  // So small that blocks are recycled, evicted and unmapped all the time.
  RecyclingPool pool_{std::size_t{32} << 20};
  programs::Memory memory_{pool_};
  programs::Shared<T> shared_;
  std::vector<programs::Log> logs_;
  std::deque<Worker> workers_;
  std::atomic<bool> stop_{false};
  Safepoint safepoint_;
  Supervisor supervisor_;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace byre::stress
