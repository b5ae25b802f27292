// SPDX-License-Identifier: BSL-1.0
/// Supervisor: shows the progress of a run, ends it when its time is over, and ends the program if the run
/// hangs or crashes.
#pragma once

#include <byre/observe/counters.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "crash_handler.hpp"
#include "monitor.hpp"
#include "outcome.hpp"
#include "watchdog.hpp"

namespace byre::stress {

/// Used by the thread that runs a workload.
class Supervisor {
 public:
  /// `done` is the number of operations so far, and `last_operations` what a crash report ends with.
  Supervisor(std::string workload, const Settings& settings, Monitor& monitor,
             std::function<std::uint64_t()> done, CrashHandler::Lines last_operations,
             std::chrono::seconds hang_timeout = default_hang_timeout);

  /// Waits a moment. True if the run is to end: its duration is over, or the user asked for it.
  bool wait_and_show();
  /// Waits a moment, in the middle of something that has to come about.
  void wait();

  /// Since the run began.
  stats::Counters counters() const { return stats::snapshot() - before_; }
  /// All that is the same for every workload.
  Outcome outcome() const;

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  const std::string workload_;
  const Settings settings_;
  Monitor& monitor_;
  const std::function<std::uint64_t()> done_;
  const stats::Counters before_ = stats::snapshot();
  const Clock::time_point begun_ = Clock::now();
  const CrashHandler crash_handler_;
  Watchdog watchdog_;
};

}  // namespace byre::stress
