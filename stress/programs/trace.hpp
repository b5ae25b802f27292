// SPDX-License-Identifier: BSL-1.0
/// The steps that a program takes, for people, and the error that ends it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace byre::programs {

/// "byre-stress", or "fuzz_storages".
const char* program_name() noexcept;

/// Ends the process by SIGABRT, which a fuzzer takes for a finding.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...) noexcept;

/// Records a step in the thread's log, if it has one, and prints it if the environment has BYRE_STEPS.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...) noexcept;
/// Records and prints `words` as they are: quick, for threads that race.
void trace_words(const char* words) noexcept;

/// The last steps of a thread, for the report of a failure. RangeWrite by that thread; read while it is held, hangs, or
/// is about to end with the process. It does not order threads: the protocol has to do that.
class Log {
 public:
  static constexpr std::size_t length = 12;
  static constexpr std::size_t line_length = 120;

  /// Oldest first.
  std::vector<std::string> lines() const;

  /// The calling thread traces into `log`; null: into none.
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
