// SPDX-License-Identifier: BSL-1.0
/// Tells the user how far the program is. On a terminal one line is redrawn in place; anywhere else
/// plain lines are written, one as a phase ends and one every few seconds in a long phase.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace examples::live_checkpoint {

/// Used by the main thread only.
class Progress {
 public:
  explicit Progress(std::FILE* stream);

  /// Starts a phase of `total` steps, counted in `unit` ("tokens"). A total of 0 is unknown.
  void begin(std::string phase, std::uint64_t total, std::string unit);

  /// `done` steps are done. Draws at most ten times a second. Throws Interrupted.
  void advance_to(std::uint64_t done);

  /// The phase is over: leaves a line that says what it took.
  void end();

  /// Leaves a line of its own.
  void print_line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);
  std::string bar() const;
  std::string rate(Clock::time_point now) const;

  std::FILE* stream_;
  bool on_terminal_;
  std::string phase_;
  std::string unit_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  Clock::time_point begun_;
  Clock::time_point next_draw_;
};

}  // namespace examples::live_checkpoint
