// SPDX-License-Identifier: BSL-1.0
/// Notices that a run has stopped getting anywhere, and ends the program: its threads cannot be
/// ended otherwise.
#pragma once

#include <chrono>
#include <cstdint>

#include "last_words.hpp"

namespace byre::stress {

/// 64 MiB in a sanitized build on a busy machine take seconds.
inline constexpr std::chrono::seconds longest_operation{120};

/// Used by one thread.
class Hang {
 public:
  explicit Hang(const LastWords& last_words, std::chrono::seconds patience = longest_operation)
      : last_words_(last_words), patience_(patience) {}

  /// Every now and then: `done` operations are done. Says the last words and ends the program if it
  /// has been the same number for longer than any operation takes.
  void look(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  const LastWords& last_words_;
  const std::chrono::seconds patience_;
  std::uint64_t done_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace byre::stress
