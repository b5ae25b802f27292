// SPDX-License-Identifier: BSL-1.0
/// Measures how long training stood still for the sake of snapshots.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>

namespace examples::live_checkpoint {

/// A stall is one event in which the training thread does something other than training because there are snapshots: a
/// snapshot call, or a write access to a part that a snapshot shared. Waiting for room in the writer's queue is no stall:
/// no way of copying changes how fast a disk is.
///
/// Each is timed with steady_clock, so that preemption by other processes counts too, as it would for a user. The
/// thread's processor time tells a stall's own work from that.
struct StallLog {
  std::size_t events = 0;
  std::int64_t worst_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t worst_processor_ns = 0;

  /// Times `work` as one event and returns what it returns.
  template <class Work>
  auto time(Work&& work) {
    const std::int64_t processor_begin_ns = processor_time_ns();
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::forward<Work>(work)();
    const std::int64_t ns =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    ++events;
    worst_ns = std::max(worst_ns, ns);
    total_ns += ns;
    worst_processor_ns = std::max(worst_processor_ns, processor_time_ns() - processor_begin_ns);
    return result;
  }

  static std::int64_t processor_time_ns() noexcept {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
  }
};

}  // namespace examples::live_checkpoint
