// SPDX-License-Identifier: BSL-1.0
/// ThreadGroup: threads that start work simultaneously. Each burst of work reports whether a thread
/// had to wait for a core.
#pragma once

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace byre_bench {

/// Each thread is pinned to its own core if there are enough cores. On a busy machine, two threads
/// may nevertheless alternate on one core, which hides their contention.
class ThreadGroup {
 public:
  struct Burst {
    double wall_ns;  ///< from the first start to the last end
    /// True if no thread waited for its core, except briefly at its wake-up. Also true if there are
    /// fewer cores than threads, because the threads then always wait.
    bool is_undisturbed;
  };

  explicit ThreadGroup(std::size_t size);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// Runs `work(index)` on all threads at once. Returns when all threads are done.
  Burst run(const std::function<void(std::size_t)>& work);

 private:
  struct Timing {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t delay_ns = 0;
  };

  void run_bursts(std::size_t index);

  const std::function<void(std::size_t)>* work_ = nullptr;  ///< null ends the threads
  std::atomic<std::uint32_t> burst_{0};
  std::atomic<std::uint32_t> at_the_start_{0};
  std::atomic<std::uint32_t> at_work_{0};
  bool has_cores_ = false;  ///< each thread has its own core
  std::vector<Timing> timings_;
  std::vector<std::thread> threads_;
};

/// Runs bursts of `operations` operations each, as run_bursts() does. Repeats bursts in which a
/// thread waited for its core, at most as many times as there are bursts, plus 8. `ns` is the
/// middle mean of the undisturbed bursts. If all bursts were disturbed, `ns` is that of all bursts,
/// and the counter `is_disturbed` is 1: summary.py then omits the round.
void run_undisturbed_bursts(benchmark::State& state, std::size_t operations,
                            const std::function<ThreadGroup::Burst(std::size_t)>& burst);

}  // namespace byre_bench
