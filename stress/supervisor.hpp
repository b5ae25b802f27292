// SPDX-License-Identifier: BSL-1.0
/// Supervisor: prints the progress of a run, and ends the run when its time is over or the user
/// interrupts it. If a run hangs or crashes, prints the last steps of each thread and the command
/// that repeats the run, then ends the program.
#pragma once

#include <byre/observe/counters.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "settings.hpp"

namespace byre::stress {

/// The results of one run.
struct Outcome {
  std::string workload;
  Settings settings;
  double seconds = 0;
  std::uint64_t operations = 0;
  std::uint64_t rounds = 0;  ///< rounds of a race, or checkpoints of programs
  std::uint64_t faults = 0;  ///< faults that were injected and handled
  std::uint64_t delays = 0;
  stats::Counters counters;
  Figures figures;                    ///< of histories
  std::vector<std::string> failures;  ///< of a race; a failed program aborts the process
};

/// A report of a few lines; longer if something failed.
std::string text_of(const Outcome& outcome);
/// The report as a line of JSON.
std::string json_of(const Outcome& outcome);

/// Whether the user requested the end of all runs (SIGINT, SIGTERM or SIGHUP). Signals are handled
/// from the first supervisor on.
bool stop_requested() noexcept;

/// Long, because a step on 64 MiB takes seconds in a sanitized build on a busy machine.
inline constexpr std::chrono::seconds default_hang_timeout{120};

/// At most one supervisor exists at a time. The thread that runs a workload uses it; any thread may
/// call wake().
class Supervisor {
 public:
  using Lines = std::function<std::vector<std::string>()>;

  /// `done` returns the number of operations so far; `last_steps` returns the lines that end a
  /// crash report.
  Supervisor(std::string workload, const Settings& settings, std::function<std::uint64_t()> done,
             Lines last_steps, std::chrono::seconds hang_timeout = default_hang_timeout);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Waits 100 ms, or until wake() is called. Returns true if the run has to end.
  bool wait();
  void wake() noexcept;

  /// Counters since the run began.
  stats::Counters counters() const { return stats::snapshot() - before_; }
  /// The results that all workloads report.
  Outcome outcome() const;

 private:
  using Clock = std::chrono::steady_clock;

  static void on_fatal_signal(int signal);
  void show();
  void report(const char* why) const;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  const std::string workload_;
  const Settings settings_;
  const std::string command_;
  const std::function<std::uint64_t()> done_;
  const Lines last_steps_;
  const std::chrono::seconds hang_timeout_;
  const stats::Counters before_ = stats::snapshot();
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point next_line_ = begun_ + std::chrono::seconds(1);
  std::uint64_t last_done_ = 0;
  Clock::time_point last_progress_ = begun_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
};

}  // namespace byre::stress
