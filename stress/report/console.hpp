// SPDX-License-Identifier: BSL-1.0
/// The user at the console: sees a line that moves, or plain lines where there is no terminal, and
/// ends everything with `q` or Ctrl-C.
#pragma once

#include <chrono>
#include <string>

#include "../monitor.hpp"

namespace byre::stress {

/// One, made before any thread, so that none of them is sent the signals that end the program: they
/// are read like keys. The terminal is as it was when this is destroyed.
class Console final : public Monitor {
 public:
  Console();
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void wait() override;
  void wake() noexcept override;
  void show(const Figures& figures) override;
  bool stop_requested() const noexcept override { return wants_to_end_; }

  /// In front of every line shown: "3 of 8, ".
  void begin_lines_with(std::string text) { prefix_ = std::move(text); }
  /// Makes room for other output.
  void clear();

  /// For a program that ends without destroying it. By any thread, or a signal handler.
  static void restore_terminal() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void read_keys();

  const bool on_terminal_;
  bool reads_keys_;
  int signals_ = -1;
  int wakes_ = -1;
  bool wants_to_end_ = false;
  std::string prefix_;
  Clock::time_point next_line_;
};

}  // namespace byre::stress
