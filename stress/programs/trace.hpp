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

/// The last steps of a thread, for the report of a failure. Written by that thread; read while it is held, hangs, or
/// is about to end with the process.
class Log {
 public:
  static constexpr std::size_t length = 12;

  /// Oldest first.
  std::vector<std::string> lines() const;

  /// The calling thread traces into `log`; null: into none.
  static void use(Log* log) noexcept;

 private:
  friend void trace(const char* format, ...) noexcept;

  std::array<std::array<char, 120>, length> lines_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace byre::programs
