// SPDX-License-Identifier: BSL-1.0
/// Watchdog: ends the program when a run makes no progress. Its threads cannot be ended otherwise.
#pragma once

#include <chrono>
#include <cstdint>

#include "crash_handler.hpp"

namespace byre::stress {

/// 64 MiB in a sanitized build on a busy machine take seconds.
inline constexpr std::chrono::seconds default_hang_timeout{120};

/// Used by one thread.
class Watchdog {
 public:
  explicit Watchdog(const CrashHandler& crash_handler,
                    std::chrono::seconds hang_timeout = default_hang_timeout)
      : crash_handler_(crash_handler), hang_timeout_(hang_timeout) {}

  /// To be called every now and then: `done` operations are done. If the number has not changed for
  /// longer than the timeout, writes the crash report and ends the program.
  void observe(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  const CrashHandler& crash_handler_;
  const std::chrono::seconds hang_timeout_;
  std::uint64_t done_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace byre::stress
