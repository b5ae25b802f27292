// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <byre/error/error.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "interpret.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;

/// The lines of a write and of the access that was told of it.
using Lines = std::set<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

/// Of the first read with another value; never if there is none.
std::uint32_t first_difference(const Reads& one, const Reads& other) {
  const auto [at, there] = std::ranges::mismatch(one, other);
  return at == one.end() && there == other.end() ? never : at == one.end() ? there->line : at->line;
}

std::uint32_t first_access(const Lines& lines) {
  std::uint32_t first = never;
  for (const auto& [write, access] : lines) {
    first = std::min(first, access);
  }
  return first;
}

Lines lines_of(const std::vector<shadow::Violation>& violations) {
  Lines lines;
  for (const shadow::Violation& violation : violations) {
    lines.emplace(violation.write.site.line, violation.access.site.line);
  }
  return lines;
}

Lines lines_of(const std::vector<Report>& reports) {
  Lines lines;
  for (const Report& report : reports) {
    lines.emplace(report.write_line, report.access_line);
  }
  return lines;
}

std::string text(const Lines& lines) {
  std::string text;
  for (const auto& [write, access] : lines) {
    text += " " + std::to_string(write) + "->" + std::to_string(access);
  }
  return text.empty() ? " none" : text;
}

std::string at(std::uint32_t line) {
  return line == never ? "nowhere" : "at line " + std::to_string(line);
}

/// The claim itself, of what really ran.
std::string failure_of_claim(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                             const Worlds& worlds) {
  const std::uint32_t difference = first_difference(alias.reads, copy.reads);
  const Lines told = lines_of(warn.summary.triples);
  if (difference < first_access(told)) {
    return "alias and copy differ " + at(difference) + ", and warn reports only" + text(told);
  }
  const auto is_excused = [](const Report& report) {
    return report.reason != Reason::differs && report.reason != Reason::inexplicable;
  };
  if (!told.empty() && difference == never && !std::ranges::all_of(worlds.reports(), is_excused)) {
    return "alias and copy agree, and warn reports without an excuse" + text(told);
  }
  return "";
}

/// That the two worlds are those which the modes make, and that warn tells of each write where the rule
/// says so and nowhere else.
std::string failure_of_worlds(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                              const Worlds& worlds) {
  const auto differs = [](const char* what, const Reads& reads, const Reads& expected) {
    const std::uint32_t line = first_difference(reads, expected);
    return line == never ? "" : what + std::string(" does not read what is there ") + at(line);
  };
  for (const std::string& failure : {differs("alias", alias.reads, worlds.reads_of_aliases()),
                                     differs("warn", warn.reads, worlds.reads_of_aliases()),
                                     differs("copy", copy.reads, worlds.reads_of_copies())}) {
    if (!failure.empty()) {
      return failure;
    }
  }
  for (const Outcome* const outcome : {&alias, &copy}) {
    if (outcome->summary.reshapes + outcome->summary.violations != 0) {
      return "alias or copy watches";
    }
  }
  const Lines told = lines_of(warn.summary.triples);
  const Lines expected = lines_of(worlds.reports());
  if (told != expected || warn.summary.violations != worlds.reports().size()) {
    return "warn reports" + text(told) + " (" + std::to_string(warn.summary.violations) +
           " times), and should" + text(expected) + " (" + std::to_string(worlds.reports().size()) +
           " times)";
  }
  return "";
}

/// That each reason is what it says: a read that is said to differ does.
std::string failure_of_reasons(const Worlds& worlds) {
  for (const Report& report : worlds.reports()) {
    const auto is_there = [&](const Read& read) { return read.line == report.access_line; };
    const bool differs = std::ranges::find_if(worlds.reads_of_aliases(), is_there) !=
                             worlds.reads_of_aliases().end() &&
                         *std::ranges::find_if(worlds.reads_of_aliases(), is_there) !=
                             *std::ranges::find_if(worlds.reads_of_copies(), is_there);
    if (report.reason == Reason::inexplicable || (report.reason == Reason::differs) != differs) {
      return "the report " + at(report.access_line) + " is said to be one of " +
             to_string(report.reason);
    }
  }
  return "";
}

/// Where every value is unique and every access of all there is.
std::string failure_of_whole(const Verdict& verdict) {
  std::size_t excused = 0;
  for (const Reason reason :
       {Reason::carried, Reason::missed, Reason::equal_values, Reason::other_elements}) {
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
  std::uint32_t line = 0;
  for (const Statement& statement : program) {
    if (!worlds.run(statement, ++line)) {
      verdict.failure = "line " + std::to_string(line) + " is not possible";
      return verdict;
    }
  }
  try {
    const Outcome alias = run(program, ReshapeMode::alias);
    const Outcome copy = run(program, ReshapeMode::copy);
    const Outcome warn = run(program, ReshapeMode::warn);
    verdict.is_reported = warn.summary.violations != 0;
    verdict.differs = alias.reads != copy.reads;
    for (const Report& report : worlds.reports()) {
      ++verdict.reports[static_cast<std::size_t>(report.reason)];
    }
    for (const std::string& failure :
         {failure_of_claim(alias, copy, warn, worlds), failure_of_worlds(alias, copy, warn, worlds),
          failure_of_reasons(worlds),
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
