// SPDX-License-Identifier: BSL-1.0
/// Supervisor: shows the progress of a run and ends it when its time is over or the user asks for it. A run that hangs
/// or crashes ends the program, with what each thread did last and the command that repeats it.
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

/// One run's results.
struct Outcome {
  std::string workload;
  Settings settings;
  double seconds = 0;
  std::uint64_t operations = 0;
  std::uint64_t rounds = 0;  ///< of a race; checkpoints of programs
  std::uint64_t faults = 0;  ///< injected, and survived
  std::uint64_t delays = 0;
  stats::Counters counters;
  std::vector<std::string> failures;  ///< of a race: what is wrong with programs ends the process
};

/// A few lines; more if something failed.
std::string text_of(const Outcome& outcome);

/// Whether the user asked to end everything. Takes notice from the first supervisor on.
bool stop_requested() noexcept;

/// 64 MiB in a sanitized build on a busy machine take seconds.
inline constexpr std::chrono::seconds default_hang_timeout{120};

/// One at a time, by the thread that runs a workload; wake() by any.
class Supervisor {
 public:
  using Lines = std::function<std::vector<std::string>()>;

  /// `done` is the number of operations so far, and `last_steps` what a crash report ends with.
  Supervisor(std::string workload, const Settings& settings, std::function<std::uint64_t()> done,
             Lines last_steps, std::chrono::seconds hang_timeout = default_hang_timeout);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Waits a moment, or until wake() is called. True if the run is to end.
  bool wait();
  void wake() noexcept;

  /// Since the run began.
  stats::Counters counters() const { return stats::snapshot() - before_; }
  /// The results that every workload has.
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
