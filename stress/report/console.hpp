// SPDX-License-Identifier: BSL-1.0
/// Console: shows progress as a line that is updated, or as plain lines where there is no terminal. `q` and
/// Ctrl-C request the end.
#pragma once

#include <chrono>
#include <string>

#include "../monitor.hpp"

namespace byre::stress {

/// One, made before other threads: it blocks the signals that end the program, and reads them like keys. Its
/// destructor restores the terminal.
class Console final : public Monitor {
 public:
  Console();
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void wait() override;
  void wake() noexcept override;
  void show(const Progress& progress) override;
  bool stop_requested() const noexcept override { return stop_requested_; }

  /// Clears the line, for other output.
  void clear();

  /// For a program that ends without the destructor. By any thread, or a signal handler.
  static void restore_terminal() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void read_keys();

  const bool on_terminal_;
  bool reads_keys_;
  int signals_ = -1;
  int wakes_ = -1;
  bool stop_requested_ = false;
  Clock::time_point next_line_;
};

}  // namespace byre::stress
