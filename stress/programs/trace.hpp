// SPDX-License-Identifier: BSL-1.0
/// Traces the steps of a program in readable form, and reports the error that ends it.
#pragma once

#include <byre/config.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace byre::programs {

/// The name of the program, such as "byre-stress" or "fuzz_storages".
const char* program_name() noexcept;

/// Prints the message and ends the process by SIGABRT, which a fuzzer treats as a finding.
[[noreturn, gnu::format(BYRE_PRINTF, 1, 2)]] void fail(const char* format, ...) noexcept;

/// Records a step in the log of this thread, if there is one, and prints the step if the
/// environment variable BYRE_STEPS is set.
[[gnu::format(BYRE_PRINTF, 1, 2)]] void trace(const char* format, ...) noexcept;
/// Like trace(), but does not format, so it is fast enough for threads that race.
void trace_words(const char* words) noexcept;

/// The last steps of a thread, for the report of a failure. The thread writes its log. Another
/// thread reads the log while the first is paused or hangs, or when the process is about to end.
/// The log must not order threads, because that would hide errors of the protocol under test.
class Log {
 public:
  static constexpr std::size_t length = 12;
  static constexpr std::size_t line_length = 120;

  /// The lines, oldest first.
  std::vector<std::string> lines() const;

  /// From now on, the calling thread traces into `log`; null: into no log.
  static void use(Log* log) noexcept;

 private:
  friend void trace_words(const char* words) noexcept;

  std::array<std::array<char, line_length>, length> lines_{};
  std::atomic<std::size_t> count_{0};
};

/// The lines of all logs, each with the number of its thread.
template <class Logs>
std::vector<std::string> lines_of(const Logs& logs) {
  std::vector<std::string> lines;
  std::size_t thread = 0;
  for (const Log& log : logs) {
    for (const std::string& line : log.lines()) {
      lines.push_back("thread " + std::to_string(thread) + ": " + line);
    }
    ++thread;
  }
  return lines;
}

}  // namespace byre::programs
