// SPDX-License-Identifier: BSL-1.0
#include "thread_group.hpp"

#include "harness.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace byre_bench {
namespace {

/// The longest delay of a thread that is woken on an idle core.
constexpr std::int64_t allowed_delay_ns = 20'000;

std::vector<std::size_t> cores_of_this_process() {
  std::vector<std::size_t> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

void pin_this_thread_to(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// Nanoseconds for which this thread was runnable but not running: the second number in the file
/// `schedstat`. 0 if the file is missing.
std::int64_t delay_so_far_ns(int schedstat) {
  char text[96] = {};
  if (schedstat < 0 || ::pread(schedstat, text, sizeof text - 1, 0) <= 0) {
    return 0;
  }
  char* rest = nullptr;
  std::strtoll(text, &rest, 10);
  return std::strtoll(rest, nullptr, 10);
}

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

ThreadGroup::ThreadGroup(std::size_t size) : timings_(size) {
  const auto cores = cores_of_this_process();
  has_cores_ = cores.size() >= size;
  for (std::size_t i = 0; i < size; ++i) {
    threads_.emplace_back([=, this] {
      if (!cores.empty()) {
        pin_this_thread_to(cores[i % cores.size()]);
      }
      run_bursts(i);
    });
  }
}

ThreadGroup::~ThreadGroup() {
  work_ = nullptr;
  burst_.fetch_add(1);
  burst_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
}

ThreadGroup::Burst ThreadGroup::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  at_the_start_.store(0);
  at_work_.store(static_cast<std::uint32_t>(timings_.size()));
  burst_.fetch_add(1);
  burst_.notify_all();
  // Sleeps, because the worker threads need all cores.
  for (auto left = at_work_.load(); left != 0; left = at_work_.load()) {
    at_work_.wait(left);
  }
  std::int64_t longest_delay = 0;
  std::int64_t start = timings_.front().start_ns;
  std::int64_t end = timings_.front().end_ns;
  for (const Timing& timing : timings_) {
    start = std::min(start, timing.start_ns);
    end = std::max(end, timing.end_ns);
    longest_delay = std::max(longest_delay, timing.delay_ns);
  }
  return {static_cast<double>(end - start),
          !has_cores_ || longest_delay <= allowed_delay_ns + (end - start) / 50};
}

void ThreadGroup::run_bursts(std::size_t index) {
  const int schedstat = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  Timing& self = timings_[index];
  for (std::uint32_t seen = 0;;) {
    burst_.wait(seen);
    seen = burst_.load();
    if (work_ == nullptr) {
      if (schedstat >= 0) {
        ::close(schedstat);
      }
      return;
    }
    at_the_start_.fetch_add(1);
    while (at_the_start_.load(std::memory_order::acquire) != timings_.size()) {
      if (!has_cores_) {
        std::this_thread::yield();
      }
    }
    const std::int64_t delay_before = delay_so_far_ns(schedstat);
    self.start_ns = now_ns();
    (*work_)(index);
    self.end_ns = now_ns();
    self.delay_ns = delay_so_far_ns(schedstat) - delay_before;
    if (at_work_.fetch_sub(1) == 1) {
      at_work_.notify_one();  // an earlier wake-up would take a core from a thread that still works
    }
  }
}

void run_undisturbed_bursts(benchmark::State& state, std::size_t operations,
                            const std::function<ThreadGroup::Burst(std::size_t)>& burst) {
  std::vector<double> undisturbed;
  std::vector<double> disturbed;
  std::size_t index = 0;
  std::size_t repetitions = static_cast<std::size_t>(state.max_iterations) + 8;
  const auto run_one = [&] {
    const auto timing = burst(index++);
    const double ns = timing.wall_ns / static_cast<double>(operations);
    (timing.is_undisturbed ? undisturbed : disturbed).push_back(ns);
    state.SetIterationTime(ns * 1e-9);
    return timing.is_undisturbed;
  };
  burst(index++);
  for ([[maybe_unused]] auto iteration : state) {
    while (!run_one() && repetitions != 0) {
      --repetitions;
    }
  }
  state.counters["is_disturbed"] = undisturbed.empty() ? 1 : 0;
  state.counters["ns"] = middle_mean(undisturbed.empty() ? disturbed : undisturbed);
}

}  // namespace byre_bench
