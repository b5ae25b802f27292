// SPDX-License-Identifier: BSL-1.0
/// How a search ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace byre::verification {

enum class Verdict : std::uint8_t {
  pass,       ///< all executions within the bound ran and none failed
  data_race,  ///< two accesses without a happens-before edge, one of them a write
  use_after_free,
  double_free,
  leak,
  uninitialized,  ///< a read of memory that was never written
  deadlock,       ///< no thread can run, e.g. after a lost wake
  livelock,       ///< an execution does not end
  misused_lock,
  wrong_answer,    ///< the scenario's oracle failed
  core_assertion,  ///< a BYRE_ASSERT failed
  crash,
  /// the checker itself failed, e.g. on an illegal order or a nondeterministic step
  checker_error,
  unknown,      ///< the search hit a limit and had found no failure
  not_covered,  ///< all executions passed, but a cover point was not reached
};

inline constexpr std::array<std::string_view, 15> verdict_names{
    "pass",          "data race",      "use after free",
    "double free",   "leak",           "uninitialized read",
    "deadlock",      "livelock",       "misused lock",
    "wrong answer",  "core assertion", "crash",
    "checker error", "unknown",        "not covered"};

constexpr std::string_view to_string(Verdict verdict) noexcept {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

constexpr std::optional<Verdict> verdict_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (verdict_names[i] == name) {
      return static_cast<Verdict>(i);
    }
  }
  return std::nullopt;
}

/// True if the search found an execution that must not exist.
constexpr bool is_failure(Verdict verdict) noexcept {
  return verdict > Verdict::pass && verdict < Verdict::checker_error;
}

}  // namespace byre::verification
