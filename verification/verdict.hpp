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
  pass,       ///< every execution within the bound was tried and none failed
  data_race,  ///< two accesses without a happens-before edge, one of them a write
  use_after_free,
  double_free,
  leak,
  uninitialized,  ///< a read of memory nobody wrote
  deadlock,       ///< nobody can run: a lost wake-up
  livelock,       ///< an execution that does not end
  misused_lock,
  wrong_answer,    ///< the scenario's oracle: not what the sequential model says
  core_assertion,  ///< BYRE_ASSERT
  crash,
  checker_error,  ///< the checker contradicts itself: an illegal order, a step that is not deterministic
  unknown,        ///< the search was cut short, and had found nothing
  not_covered,  ///< it passed, but never reached a state that it is about
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

/// Whether an execution was found that ought not to exist.
constexpr bool is_failure(Verdict verdict) noexcept {
  return verdict > Verdict::pass && verdict < Verdict::checker_error;
}

}  // namespace byre::verification
