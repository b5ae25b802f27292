// SPDX-License-Identifier: BSL-1.0
/// Who watches a run: is shown how it goes, and may end it.
#pragma once

#include <byre/stats/counters.hpp>

#include <cstdint>
#include <string_view>

namespace byre::stress {

/// How far a run is.
struct Figures {
  std::string_view workload;
  double seconds;
  std::uint64_t operations;
  stats::Counters counted;  ///< since its start
};

/// Used by the thread that runs a workload, but for wake().
class Watch {
 public:
  virtual ~Watch() = default;

  /// Waits a moment, or until wake() is called.
  virtual void wait() = 0;
  /// By any thread.
  virtual void wake() noexcept = 0;
  virtual void show(const Figures& figures) = 0;
  /// Whether the user asked to end everything.
  virtual bool wants_to_end() const noexcept = 0;

 protected:
  Watch() = default;
  Watch(const Watch&) = default;
  Watch& operator=(const Watch&) = default;
};

}  // namespace byre::stress
