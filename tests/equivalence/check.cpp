// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <byre/error/error.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "interpret.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

/// Of the first read with another value; never if there is none.
std::uint32_t first_difference(const Reads& one, const Reads& other) {
  const auto [at, there] = std::ranges::mismatch(one, other);
  return at == one.end() && there == other.end() ? never
         : at == one.end()                       ? there->number
                                                 : at->number;
}

std::string at(std::uint32_t number) {
  return number == never ? "nowhere" : "at " + std::to_string(number);
}

bool is_excuse(Reason reason) {
  return reason != Reason::differs && reason != Reason::inexplicable;
}

/// By that statement or, of these three lines, before; an error at that statement.
bool was_told(const Telling& telling, const Tellings& told) {
  const auto lines = [](const Telling& each) {
    return std::tuple(each.told.reshape, each.told.write, each.told.access, each.told.is_error);
  };
  return std::ranges::any_of(told, [&](const Telling& each) {
    return lines(each) == lines(telling) &&
           (telling.told.is_error ? each.number == telling.number : each.number <= telling.number);
  });
}

bool is_so(const Account& account, const Outcome& warn, const Worlds& worlds) {
  switch (account.why) {
    case Account::Why::kept_pointer:
      return std::ranges::any_of(warn.summary.unaudited_lines, [&](const auto& unaudited) {
        return unaudited.site.line == account.which;
      });
    case Account::Why::told:
      return was_told(worlds.told()[account.which], warn.told);
    case Account::Why::silenced:
      return warn.summary.silenced != 0;
    default:
      return false;
  }
}

/// The claim itself, of what really ran: each element that a read has another value of has an account,
/// which is so; and what is told where no read differs has an excuse.
std::string failure_of_claim(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                             const Worlds& worlds) {
  bool differs = false;
  for (std::size_t index = 0; index < std::min(alias.reads.size(), copy.reads.size()); ++index) {
    if (alias.reads[index] == copy.reads[index]) {
      continue;
    }
    differs = true;
    const Accounts& all = worlds.accounts_of_reads()[index];
    const auto false_one = std::ranges::find_if(
        all, [&](const Account& account) { return !is_so(account, warn, worlds); });
    if (all.empty() || false_one != all.end()) {
      return "alias and copy differ " + at(alias.reads[index].number) + ", accounted for by " +
             (all.empty() ? "nobody" : to_string(false_one->why)) + ", and warn tells" +
             to_string(warn.told);
    }
  }
  if (!differs && !warn.told.empty() && !std::ranges::all_of(worlds.reasons_of_told(), is_excuse)) {
    return "alias and copy agree, and warn tells without an excuse" + to_string(warn.told);
  }
  return "";
}

/// That the two worlds are those which the modes make.
std::string failure_of_reads(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                             const Worlds& worlds) {
  const auto differs = [](const char* what, const Reads& reads, const Reads& expected) {
    const std::uint32_t number = first_difference(reads, expected);
    return number == never ? "" : what + std::string(" does not read what is there ") + at(number);
  };
  for (const std::string& failure : {differs("alias", alias.reads, worlds.reads_of_aliases()),
                                     differs("warn", warn.reads, worlds.reads_of_aliases()),
                                     differs("copy", copy.reads, worlds.reads_of_copies())}) {
    if (!failure.empty()) {
      return failure;
    }
  }
  return "";
}

std::string failure_of_count(const char* what, std::uint64_t count, std::uint64_t expected) {
  return count == expected ? ""
                           : std::to_string(count) + what + std::string(", and should be ") +
                                 std::to_string(expected);
}

/// That warn tells of each write where the rule says so and nowhere else, what it says, and what it
/// counts.
std::string failure_of_reports(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                               const Worlds& worlds) {
  for (const Outcome* const outcome : {&alias, &copy}) {
    const shadow::Summary& summary = outcome->summary;
    if (summary.reshapes + summary.violations + summary.silenced + summary.unaudited != 0) {
      return "alias or copy watches";
    }
  }
  if (const Tellings expected = tellings_of(worlds.told()); warn.told != expected) {
    return "warn tells" + to_string(warn.told) + ", and should" + to_string(expected);
  }
  const Triples triples = triples_of(warn.summary.triples);
  if (const Triples expected = triples_of(worlds.summary()); triples != expected) {
    return "the summary has" + to_string(triples) + ", and should have" + to_string(expected);
  }
  if (!std::ranges::is_sorted(warn.summary.triples, std::greater(), &shadow::Violation::count) ||
      triples.size() != warn.summary.triples.size()) {
    return "the summary is not in order";
  }
  const shadow::Summary& summary = warn.summary;
  for (const std::string& failure :
       {failure_of_count(" violations", summary.violations, worlds.told().size()),
        failure_of_count(" silenced", summary.silenced, worlds.silenced()),
        failure_of_count(" reshapes watched", summary.reshapes, worlds.reshapes()),
        failure_of_count(" pointers unaudited", summary.unaudited, worlds.unaudited())}) {
    if (!failure.empty()) {
      return failure;
    }
  }
  return "";
}

/// That each reason is what it says: a read that is said to differ does.
std::string failure_of_reasons(const Worlds& worlds) {
  for (std::size_t index = 0; index < worlds.told().size(); ++index) {
    const Reason reason = worlds.reasons_of_told()[index];
    const std::uint32_t number = worlds.told()[index].number;
    const auto is_there = [&](const Read& read) { return read.number == number; };
    const auto aliased = std::ranges::find_if(worlds.reads_of_aliases(), is_there);
    const bool differs = aliased != worlds.reads_of_aliases().end() &&
                         *aliased != *std::ranges::find_if(worlds.reads_of_copies(), is_there);
    if (reason == Reason::inexplicable || (reason == Reason::differs) != differs) {
      return "what is told " + at(number) + " is said to be one of " + to_string(reason);
    }
  }
  return "";
}

/// Where every value is unique and every access of all there is.
std::string failure_of_whole(const Verdict& verdict) {
  std::size_t excused = 0;
  for (const Reason reason : {Reason::carried, Reason::missed, Reason::equal_values,
                              Reason::other_elements, Reason::in_parts, Reason::unseen}) {
    excused += verdict.reports[static_cast<std::size_t>(reason)];
  }
  if (excused != 0) {
    return "a report has an excuse that there is none for where all is unique";
  }
  if (verdict.differs != (verdict.reports[static_cast<std::size_t>(Reason::differs)] != 0)) {
    return "a read differs, and no read is reported, or the other way round";
  }
  return "";
}

}  // namespace

Verdict check(const Program& program, Flavor flavor) {
  Verdict verdict;
  Worlds worlds;
  std::uint32_t number = 0;
  for (const Statement& statement : program) {
    if (!worlds.run(statement, ++number)) {
      verdict.failure = "statement " + std::to_string(number) + " is not possible";
      return verdict;
    }
  }
  for (const Reason reason : worlds.reasons_of_told()) {
    ++verdict.reports[static_cast<std::size_t>(reason)];
  }
  for (const Telling& each : worlds.told()) {
    ++verdict.advice[static_cast<std::size_t>(each.told.advice)];
    verdict.errors += each.told.is_error ? 1 : 0;
  }
  for (const Accounts& of_read : worlds.accounts_of_reads()) {
    for (const Account& account : of_read) {
      ++verdict.accounts_of_reads[static_cast<std::size_t>(account.why)];
    }
  }
  verdict.silenced = worlds.silenced();
  try {
    const Outcome alias = run(program, ReshapeMode::alias);
    const Outcome copy = run(program, ReshapeMode::copy);
    const Outcome warn = run(program, ReshapeMode::warn);
    verdict.is_reported = !warn.told.empty();
    verdict.differs = alias.reads != copy.reads;
    for (const std::string& failure :
         {failure_of_claim(alias, copy, warn, worlds), failure_of_reads(alias, copy, warn, worlds),
          failure_of_reports(alias, copy, warn, worlds), failure_of_reasons(worlds),
          flavor == Flavor::whole_and_unique ? failure_of_whole(verdict) : std::string()}) {
      verdict.failure = verdict.failure.empty() ? failure : verdict.failure;
    }
  } catch (const Error& error) {
    verdict.failure = std::string("what should work was refused: ") + error.what();
  }
  return verdict;
}

Program possible(const Program& program) {
  Worlds worlds;
  Program rest;
  for (const Statement& statement : program) {
    if (worlds.run(statement, static_cast<std::uint32_t>(rest.size() + 1))) {
      rest.push_back(statement);
    }
  }
  return rest;
}

Program shrunk(Program failing, Flavor flavor) {
  for (std::size_t index = failing.size(); index-- > 0;) {
    Program shorter = failing;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(index));
    shorter = possible(shorter);
    if (!check(shorter, flavor).failure.empty()) {
      failing = std::move(shorter);
      index = failing.size();
    }
  }
  return failing;
}

}  // namespace byre::test
