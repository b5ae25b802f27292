// SPDX-License-Identifier: BSL-1.0
/// Notices that a run has stopped getting anywhere, and ends the program: its threads cannot be
/// ended otherwise.
#pragma once

#include <chrono>
#include <cstdint>

#include "last_words.hpp"

namespace byre::stress {

class Hang {
 public:
  explicit Hang(const LastWords& last_words) : last_words_(last_words) {}

  /// Every now and then: `done` operations are done. Says the last words and ends the program if it
  /// has been the same number for longer than any operation takes.
  void look(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  const LastWords& last_words_;
  std::uint64_t done_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace byre::stress
