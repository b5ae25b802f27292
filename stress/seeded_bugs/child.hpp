// SPDX-License-Identifier: BSL-1.0
/// A run in a process of its own: what is planted may hang or crash, and is to take nobody with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bug.hpp"

namespace byre::stress::planted {

/// How a run ended.
enum class Ended : std::uint8_t {
  in_peace,      ///< all rounds, and nothing was wrong
  by_failure,    ///< a check of the race failed
  by_trespass,   ///< a step on released memory
  by_sanitizer,  ///< which wrote a report
  by_crash,      ///< a signal, or an assertion of byre's
  by_hang,       ///< no round ended for too long
  by_error,      ///< the race could not be run: nothing is known of the bug
};

struct Ending {
  Ended ended = Ended::in_peace;
  std::uint64_t rounds = 0;  ///< begun
  std::string text;          ///< what was seen, in a line
};

/// Runs it in a child process, that is ended as soon as something is found, or when no round has
/// ended for `patience`, or with this process. By a program that has only one thread. Throws
/// std::system_error, and std::runtime_error with the text of what the child could not do: an error is
/// no finding.
Ending run_in_child(Race::Run run, const RaceSettings& settings, std::chrono::seconds patience);

/// "hang", "wrong", ...
std::string_view name_of(Ended ended) noexcept;

}  // namespace byre::stress::planted
