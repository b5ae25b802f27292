// SPDX-License-Identifier: BSL-1.0
// Runs random programs in three modes: alias, copy and warn. If a read returns an element with
// different values in the modes alias and copy, the difference must have been reported by then, or
// have another cause of the enumeration Cause. The values that are read, the reports and the counts
// must equal those of the reference model. BYRE_EQUIVALENCE_PROGRAMS in the environment is the
// number of programs.
#include <byre/error/error.hpp>
#include <byre/shadow/suppression.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <set>

#include "model.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;

std::string to_string(const std::vector<Reported>& reports) {
  std::string text;
  for (const Reported& each : reports) {
    const auto& [reshape, write, access] = each.lines;
    text += format_text(" at %d [%d reshaped, %d written, %d then %s%s]", each.number, reshape,
                        write, access, each.access_writes ? "written" : "read",
                        each.is_error ? ", an error" : "")
                .chars.data();
  }
  return text.empty() ? " nothing" : text;
}

std::string difference_of_reads(const char* what, const Reads& reads, const Reads& expected) {
  const auto [at, wanted] = std::ranges::mismatch(reads, expected);
  if (at == reads.end() && wanted == expected.end()) {
    return "";
  }
  const int number = (at == reads.end() ? wanted : at)->first;
  return what + std::string(" reads wrong values at ") + std::to_string(number);
}

/// Compares the reports with the expected reports: one for each error, and one for the first
/// violation of each triple of reshape, write and access.
std::string difference_of_reports(const RunOutcome& warn, const Expected& expected) {
  std::vector<Reported> reported;
  std::set<Triple> triples;
  std::ranges::copy_if(
      expected.violations, std::back_inserter(reported),
      [&](const Reported& each) { return each.is_error || triples.insert(each.lines).second; });
  return warn.reported == reported
             ? ""
             : "warn reports" + to_string(warn.reported) + ", expected" + to_string(reported);
}

std::string difference_of_summary(const shadow::Summary& summary, const Expected& expected) {
  std::map<Triple, std::uint64_t> counts;
  for (const Reported& each : expected.violations) {
    ++counts[each.lines];
  }
  for (const shadow::Violation& each : summary.triples) {
    counts[triple_of(each)] -= each.count;
  }
  const bool is_equal = summary.reshapes == expected.reshapes &&
                        summary.violations == expected.violations.size() &&
                        (summary.suppressed != 0) == expected.is_any_suppressed &&
                        summary.untracked_escapes == expected.escapes &&
                        std::ranges::all_of(counts, [](const auto& of) { return of.second == 0; });
  return is_equal ? "" : "the summary's counts differ from the model's: " + to_string(summary);
}

/// For programs with unique values and accesses of all elements: a reported read must return
/// different values in the modes alias and copy.
std::string failure_of_reported_reads(const RunOutcome& alias, const RunOutcome& copy,
                                      const Expected& expected) {
  for (const Reported& violation : expected.violations) {
    if (!violation.access_writes &&
        alias.reads.at(violation.number) == copy.reads.at(violation.number)) {
      return "a read is reported but does not differ at " + std::to_string(violation.number);
    }
  }
  return "";
}

struct Counts {
  std::size_t all = 0;
  std::size_t steps = 0;
  std::size_t refused = 0;
  std::size_t reported = 0;
  std::size_t differing = 0;
  CauseCounts elements{};  ///< the number of differing elements by cause
  std::map<std::string, std::size_t> operations{};
};

/// False if a step is impossible, which happens only while a failing program is shrunk.
bool take(const Program& program, Model& model, Counts& counts) {
  for (const Step& step : program.body) {
    const StepResult happened = model.run(step);
    if (happened == StepResult::skipped) {
      return false;
    }
    ++counts.steps;
    counts.refused += happened == StepResult::refused ? 1U : 0U;
    ++counts.operations[step.op];
  }
  return true;
}

/// The failure of a program, or an empty text.
std::string failure_of(const Program& program, Kind kind, Counts& counts) {
  Model model;
  if (!take(program, model, counts)) {
    return "";
  }
  const Expected& expected = model.expected();
  std::ranges::transform(counts.elements, expected.causes, counts.elements.begin(), std::plus());
  if (expected.causes[static_cast<std::size_t>(Cause::unexplained)] != 0) {
    return "alias and copy differ in elements that were not reported";
  }
  try {
    ++counts.all;
    const RunOutcome copy = run(program, expected, ReshapeMode::copy);
    const RunOutcome alias = run(program, expected, ReshapeMode::alias);
    const RunOutcome warn = run(program, expected, ReshapeMode::warn);
    counts.reported += warn.reported.empty() ? 0U : 1U;
    counts.differing += alias.reads == copy.reads ? 0U : 1U;
    for (const std::string& failure :
         {difference_of_reads("alias", alias.reads, expected.reads[0]),
          difference_of_reads("warn", warn.reads, expected.reads[0]),
          difference_of_reads("copy", copy.reads, expected.reads[1]),
          difference_of_reports(warn, expected), difference_of_summary(warn.summary, expected),
          kind == Kind::whole_and_unique ? failure_of_reported_reads(alias, copy, expected) : ""}) {
      if (!failure.empty()) {
        return failure;
      }
    }
    const auto tracks = [](const RunOutcome& of) {
      return of.summary.reshapes + of.reported.size();
    };
    return tracks(alias) + tracks(copy) == 0 ? "" : "accesses are tracked in mode alias or copy";
  } catch (const std::exception& error) {
    return std::string("a possible step was rejected: ") + error.what();
  }
}

/// Half of all programs access whole storages. In a few programs, every reshape copies; these are
/// longer and have larger tensors.
Kind kind_of(std::uint64_t number) {
  return number % 2 == 0     ? Kind::whole_and_unique
         : number % 100 == 1 ? Kind::copies
                             : Kind::anything;
}

/// Expects that the programs of a kind have used each of its operations, and each view that keeps
/// the dtype.
void expect_all_operations(const Counts& counts, Kind kind) {
  for (const Operation& operation : operations) {
    const bool is_any_view = operation.name == std::string("any view");
    EXPECT_TRUE(is_any_view || operation.weights[static_cast<std::size_t>(kind)] == 0 ||
                counts.operations.contains(operation.name))
        << operation.name;
  }
  for (const std::string& view : views_of_the_dtype()) {
    EXPECT_TRUE(counts.operations.contains(view)) << view;
  }
}

TEST(Equivalence, reshape_modes_alias_and_copy_differ_only_where_reported) {
  const char* const given = std::getenv("BYRE_EQUIVALENCE_PROGRAMS");
  const std::uint64_t programs = given != nullptr ? std::strtoull(given, nullptr, 10) : 80'000;
  const TemporaryFolder folder;
  write_file(folder / "known.txt", suppressed_file);
  shadow::suppress_sites(folder / "known.txt");
  std::map<Kind, Counts> counts;
  const std::uint64_t first = seed();
  for (std::uint64_t number = first; number < first + programs; ++number) {
    const Kind kind = kind_of(number);
    const Program program = generate_steps(number, kind);
    const auto failure = [&](const Program& each) { return failure_of(each, kind, counts[kind]); };
    ASSERT_EQ(failure(program), "")
        << "BYRE_TEST_SEED=" << number << ": " << smallest_failure(program, failure);
  }
  for (const auto& [kind, of] : counts) {
    const auto& [unreported, kept_pointers, reported, suppressed] = of.elements;
    std::printf(
        "%zu programs of %zu steps, and %zu rejections: %zu report, %zu differ. Elements that "
        "differ: %zu by kept pointers, %zu reported, %zu suppressed, %zu unexplained\n",
        of.all, of.steps, of.refused, of.reported, of.differing, kept_pointers, reported,
        suppressed, unreported);
  }
  if (programs < 4000) {
    return;
  }
  for (const Kind kind : {Kind::anything, Kind::whole_and_unique}) {
    const Counts& of = counts.at(kind);
    EXPECT_GT(of.differing, of.all / 8);
    EXPECT_GT(of.all - of.reported, of.all / 8);
  }
  const Counts& anything = counts.at(Kind::anything);
  EXPECT_GT(anything.reported, anything.all / 4);
  EXPECT_EQ(std::ranges::count(anything.elements, 0U), 1);
  expect_all_operations(anything, Kind::anything);
  const Counts& copies = counts.at(Kind::copies);
  EXPECT_GT(copies.refused, copies.steps / 100);
  EXPECT_LT(copies.refused, copies.steps / 4);
  if (programs >= 80'000) {
    expect_all_operations(copies, Kind::copies);
  }
}

}  // namespace
}  // namespace byre::test
