// SPDX-License-Identifier: BSL-1.0
/// ThreadGroup: threads that start work at the same moment, and measure whether they did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace byre_bench {

/// Threads are pinned, each to a core of its own while there are enough. On a busy machine two threads may take
/// turns on one core, and their contention does not show. So a burst records whether a thread waited for its core.
class ThreadGroup {
 public:
  struct Burst {
    double wall_ns;  ///< from the first start to the last end
    bool
        is_undisturbed;  ///< no thread waited for its core, except a moment at its wake; true without enough cores
  };

  explicit ThreadGroup(std::size_t size);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// Runs `work(number)` on all threads at once; returns when all are done.
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
  bool has_cores_ = false;  ///< each thread has a core of its own
  std::vector<Timing> timings_;
  std::vector<std::thread> threads_;
};

}  // namespace byre_bench
