// SPDX-License-Identifier: BSL-1.0
/// Measures how long training stood still for the sake of snapshots. Waiting for the writer thread
/// is counted apart: no way of copying changes how fast a disk is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace examples::live_checkpoint {

/// A stall is one event in which the training thread did something other than training because
/// there are snapshots:
///   - a snapshot call: the table cloned, lazily or eagerly, and handed to the writer thread;
///   - a write access to a part that a snapshot shared: byre copied it, or had the system copy it, or found
///     that nobody shared it any more.
/// Each is timed with steady_clock from just before to just after, so that preemption by other
/// processes counts too, as it would for a user. The thread's processor time is taken around that,
/// to tell a stall's own work from what a busy machine adds. What one lazy snapshot costs is spread
/// over many such events; the sum per snapshot is therefore kept as well.
class StallLog {
 public:
  using Clock = std::chrono::steady_clock;

  struct Event {
    std::int64_t ns;
    std::int64_t processor_ns;  ///< of this thread: without preemption and waiting
  };

  /// Times `work` as one event and returns what it returns.
  template <class Work>
  auto time(Work&& work) {
    const std::int64_t processor_begin_ns = processor_time_ns();
    const auto begin = Clock::now();
    auto result = std::forward<Work>(work)();
    const auto end = Clock::now();
    events_.push_back({to_ns(end - begin), processor_time_ns() - processor_begin_ns});
    return result;
  }

  /// The next event is the first that a new snapshot causes.
  void begin_snapshot() { first_events_.push_back(events_.size()); }

  const std::vector<Event>& events() const noexcept { return events_; }
  const std::vector<std::size_t>& first_events() const noexcept { return first_events_; }

  static std::int64_t to_ns(Clock::duration duration) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  }

 private:
  static std::int64_t processor_time_ns() noexcept;

  std::vector<Event> events_;
  std::vector<std::size_t> first_events_;  ///< per snapshot, an index into events_
};

struct StallSummary {
  std::size_t events = 0;
  std::int64_t worst_ns = 0;
  std::int64_t worst_processor_ns = 0;  ///< most processor time of one event
  std::int64_t percentile_99_ns = 0;    ///< the least that 99 of 100 events do not exceed
  std::int64_t worst_snapshot_ns = 0;   ///< all events of the snapshot that cost most
  std::int64_t total_ns = 0;            ///< all events
};

StallSummary summarize(const StallLog& log);

}  // namespace examples::live_checkpoint
