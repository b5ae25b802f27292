// SPDX-License-Identifier: BSL-1.0
/// By which verdicts a mutant is killed rightly: those that are what its kind of mistake does.
/// Never by a crash, nor by what only the checker objects to.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "../relacy/mutation.hpp"
#include "../verdict.hpp"

namespace byre::verification {

struct RightVerdicts {
  std::string_view mistake;
  Change change;
  std::optional<sync::Operation> operation;  ///< or any
  std::initializer_list<Verdict> verdicts;
};

/// The first row that applies.
inline constexpr RightVerdicts right_verdicts[] = {
    {"an order that is too weak",
     Change::weaker,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::wrong_answer}},
    {"a wake that is left out", Change::left_out, sync::Operation::unpark, {Verdict::deadlock}},
    {"a sleep that is left out", Change::left_out, sync::Operation::park, {Verdict::livelock}},
    {"a lock that is not taken, nor let go of",
     Change::left_out,
     sync::Operation::lock,
     {Verdict::data_race, Verdict::wrong_answer}},
    {"a lock that is not let go of",
     Change::left_out,
     sync::Operation::unlock,
     {Verdict::deadlock}},
    {"two steps swapped",
     Change::after,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::wrong_answer, Verdict::core_assertion}},
    {"two steps in place of one",
     Change::plain,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::wrong_answer, Verdict::core_assertion}},
    {"a count that is left out",
     Change::left_out,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::livelock, Verdict::wrong_answer, Verdict::core_assertion}},
    {"a number that is one too large",
     Change::plus_one,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::livelock, Verdict::wrong_answer, Verdict::core_assertion}},
    {"a number that is one too small",
     Change::minus_one,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::livelock, Verdict::wrong_answer, Verdict::core_assertion}},
    {"a bit or a unit that is zero",
     Change::zero,
     {},
     {Verdict::data_race, Verdict::use_after_free, Verdict::double_free, Verdict::leak,
      Verdict::deadlock, Verdict::livelock, Verdict::wrong_answer, Verdict::core_assertion}},
};

inline const RightVerdicts& right_verdicts_of(const Mutation& mutation) noexcept {
  return *std::ranges::find_if(right_verdicts, [&](const RightVerdicts& row) {
    return row.change == mutation.change &&
           (!row.operation.has_value() ||
            (mutation.site != nullptr && mutation.site->operation == *row.operation));
  });
}

inline bool is_right(const Mutation& mutation, Verdict verdict) noexcept {
  if (mutation.is_none()) {
    return false;
  }
  const auto& right = right_verdicts_of(mutation).verdicts;
  return std::ranges::find(right, verdict) != right.end();
}

}  // namespace byre::verification
