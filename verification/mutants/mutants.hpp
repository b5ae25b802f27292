// SPDX-License-Identifier: BSL-1.0
/// Runs every mutant against the scenarios, and defines which verdicts count as a kill: those that
/// the mutant's kind of mistake can lead to. A crash or an error that only the checker reports
/// never counts.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../relacy/mutation.hpp"
#include "../verdict.hpp"

namespace byre::verification {

struct ExpectedVerdicts {
  std::string_view mistake;
  Change change;
  std::optional<sync::Operation> operation;  ///< any operation if empty
  std::span<const Verdict> verdicts;
};

/// The verdicts that a wrong count or a wrong order of steps can lead to. Only a wrong count leads
/// to a livelock.
inline constexpr Verdict any_failure[] = {
    Verdict::data_race, Verdict::use_after_free, Verdict::double_free,    Verdict::leak,
    Verdict::deadlock,  Verdict::wrong_answer,   Verdict::core_assertion, Verdict::livelock};
inline constexpr std::span<const Verdict> any_failure_that_ends = std::span(any_failure).first<7>();
inline constexpr Verdict unordered[] = {Verdict::data_race, Verdict::use_after_free,
                                        Verdict::wrong_answer};
// Without a lock, a thread may use what another frees, and a wake may come before the sleep, hence
// the deadlock.
inline constexpr Verdict unlocked[] = {Verdict::data_race, Verdict::use_after_free,
                                       Verdict::wrong_answer, Verdict::deadlock};
inline constexpr Verdict deadlock[] = {Verdict::deadlock};
inline constexpr Verdict livelock[] = {Verdict::livelock};

/// The first row that matches a mutant applies.
inline constexpr ExpectedVerdicts expected_verdicts[] = {
    {"an order that is too weak", Change::weaker, {}, unordered},
    {"a wake that is left out", Change::left_out, sync::Operation::unpark, deadlock},
    {"a sleep that is left out", Change::left_out, sync::Operation::park, livelock},
    {"a lock that is neither taken nor released", Change::left_out, sync::Operation::lock,
     unlocked},
    {"a lock that stays locked", Change::left_out, sync::Operation::unlock, deadlock},
    {"two steps in place of one", Change::plain, {}, any_failure_that_ends},
    {"a count that is left out", Change::left_out, {}, any_failure},
    {"a number that is one too large", Change::plus_one, {}, any_failure},
    {"a number that is one too small", Change::minus_one, {}, any_failure},
    {"a bit or a unit that is zero", Change::zero, {}, any_failure},
};

inline bool is_expected(const Mutation& mutation, Verdict verdict) noexcept {
  const auto* const row =
      std::ranges::find_if(expected_verdicts, [&](const ExpectedVerdicts& each) {
        return each.change == mutation.change &&
               (!each.operation.has_value() ||
                (mutation.site != nullptr && mutation.site->operation == *each.operation));
      });
  return !mutation.is_none() && std::ranges::count(row->verdicts, verdict) != 0;
}

/// Implements byre-verify --mutants, with `at_once` searches at a time. Returns 0 if every mutant
/// is killed by an expected verdict and no scenario fails without a mutant.
int run_mutants(unsigned at_once);

/// Implements byre-verify --explain: prints each step of core's tables with its operation, its
/// order and its mutants, and each number.
void explain();

}  // namespace byre::verification
