// SPDX-License-Identifier: BSL-1.0
/// LifetimeChecked: a Sync whose variables carry a canary. A step on released memory is reported when it
/// is taken, by its name; left alone, it would often do no visible harm.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <cstdint>
#include <string_view>

#include "../sync_hooks.hpp"

namespace byre::stress::seeded_bugs {

/// Reports a step on released memory, and ends the process.
[[noreturn]] void report_use_after_release(std::string_view step) noexcept;

/// Part of each variable. Released memory is overwritten, and stays so until the round ends.
class Canary {
 public:
  /// Checks before a step only: after it, another thread may have released the variable rightly.
  class Scope {
   public:
    Scope(const Canary& canary, std::string_view step) noexcept {
      // Relaxed: what is seen too late here is seen in another round.
      if (canary.mark_.load(boost::memory_order_relaxed) != alive) [[unlikely]] {
        report_use_after_release(step);
      }
    }
  };

  constexpr Canary() noexcept : mark_(alive) {}

 private:
  static constexpr std::uint64_t alive = 0xA11F'E000'0000'A11F;

  boost::atomic<std::uint64_t> mark_;
};

template <sync::Sync Base>
using LifetimeChecked = Hooked<Base, Canary>;

}  // namespace byre::stress::seeded_bugs
