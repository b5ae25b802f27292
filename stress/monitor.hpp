// SPDX-License-Identifier: BSL-1.0
/// Monitor: is shown the progress of a run, and may end it.
#pragma once

#include <byre/observe/counters.hpp>

#include <cstdint>
#include <string_view>

namespace byre::stress {

/// Of a run so far.
struct Progress {
  std::string_view workload;
  double seconds;
  std::uint64_t operations;
  stats::Counters counters;  ///< since its start
};

/// Used by the thread that runs a workload; wake() by any.
class Monitor {
 public:
  virtual ~Monitor() = default;

  /// Waits a moment, or until wake() is called.
  virtual void wait() = 0;
  virtual void wake() noexcept = 0;
  virtual void show(const Progress& progress) = 0;
  /// Whether the user asked to end everything.
  virtual bool stop_requested() const noexcept = 0;

 protected:
  Monitor() = default;
  Monitor(const Monitor&) = default;
  Monitor& operator=(const Monitor&) = default;
};

}  // namespace byre::stress
