// SPDX-License-Identifier: BSL-1.0
/// Runs a seeded bug in a process of its own: it may hang or crash.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "bug.hpp"

namespace byre::stress::seeded_bugs {

/// How a bug was detected.
enum class Verdict : std::uint8_t {
  not_found,          ///< all rounds ended, and nothing was wrong
  wrong_result,       ///< a check of the race failed
  use_after_release,  ///< a step on released memory
  sanitizer_report,
  crash,  ///< a signal, or an assertion of byre's
  hang,   ///< no round ended for too long
};

/// The outcome of a run.
struct Finding {
  Verdict verdict = Verdict::not_found;
  std::uint64_t rounds = 0;  ///< begun
  std::string text;          ///< what was seen, in a line
};

/// The child ends as soon as something is found, when no round has ended for `hang_timeout`, or with this
/// process. By a program with one thread. Throws std::system_error, and std::runtime_error if the child
/// could not run the race: an error is no finding.
Finding run_in_child(Race::Run run, const RaceSettings& settings,
                     std::chrono::seconds hang_timeout);

/// "wrong result", "hang", ...
std::string_view name_of(Verdict verdict) noexcept;

}  // namespace byre::stress::seeded_bugs
