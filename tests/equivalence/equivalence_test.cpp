// SPDX-License-Identifier: BSL-1.0
// Random programs, each run where reshape aliases, where it copies, and where it aliases and warns. Each
// element that differs between the first two in a read was reported by then, but for the exceptions of
// Account; and what is read, reported and counted is what the reference model says, and nothing else.
// BYRE_EQUIVALENCE_PROGRAMS in the environment is how many programs of each kind.
#include <byre/error/error.hpp>
#include <byre/shadow/suppression.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "model.hpp"
#include "support/random.hpp"
#include "support/shrink.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;
using Triple = std::array<std::uint32_t, 3>;

Triple triple_of(const Reported& each) {
  return {each.reshape, each.write, each.access};
}

std::string failure_of_reads(const char* what, const Reads& reads, const Reads& expected) {
  const auto [at, wanted] = std::ranges::mismatch(reads, expected);
  if (at == reads.end() && wanted == expected.end()) {
    return "";
  }
  const Read& read = at == reads.end() ? *wanted : *at;
  return what + std::string(" does not read what is there at ") + std::to_string(read.number);
}

/// Of all violations, what is reported: errors each, else each triple the first time.
std::string failure_of_reports(const Outcome& warn, const Model& model) {
  std::vector<Reported> expected;
  std::set<Triple> triples;
  std::ranges::copy_if(model.violations(), std::back_inserter(expected), [&](const Reported& each) {
    return each.is_error || triples.insert(triple_of(each)).second;
  });
  return warn.reported == expected
             ? ""
             : "warn reports" + to_string(warn.reported) + ", and should" + to_string(expected);
}

std::string failure_of_summary(const shadow::Summary& summary, const Model& model) {
  std::map<Triple, std::uint64_t> counts;
  for (const Reported& each : model.violations()) {
    ++counts[triple_of(each)];
  }
  for (const shadow::Violation& each : summary.triples) {
    counts[{each.reshape.site.line, each.write.site.line, each.access.site.line}] -= each.count;
  }
  const bool is_so = summary.reshapes == model.reshapes() &&
                     summary.violations == model.violations().size() &&
                     (summary.suppressed != 0) == model.is_any_suppressed() &&
                     summary.untracked_escapes == model.escapes() &&
                     std::ranges::all_of(counts, [](const auto& of) { return of.second == 0; });
  return is_so ? "" : "the summary counts otherwise than the model: " + to_string(summary);
}

/// Where every value is unique and every access of all there is: a reported read differs.
std::string failure_of_whole(const Outcome& alias, const Outcome& copy, const Model& model) {
  for (const Reported& violation : model.violations()) {
    const auto differs = [&](const Read& read) {
      const auto index = static_cast<std::size_t>(&read - alias.reads.data());
      return read.number == violation.number && read != copy.reads[index];
    };
    if (!violation.access_writes && std::ranges::none_of(alias.reads, differs)) {
      return "a read is reported, and does not differ, at " + std::to_string(violation.number);
    }
  }
  return "";
}

struct Counts {
  std::size_t all = 0;
  std::size_t reported = 0;
  std::size_t differing = 0;
  Accounts elements{};  ///< that differ
  std::set<Operation> operations{};
};

/// What is wrong; empty if nothing is, or if the program is not possible, as some are while it is shrunk.
std::string failure_of(const Program& program, Flavor flavor, Counts& counts) {
  Model model;
  for (std::uint32_t number = 0; const Statement& statement : program) {
    if (!model.run(statement, ++number)) {
      return "";
    }
    counts.operations.insert(statement.operation);
  }
  std::ranges::transform(counts.elements, model.accounts(), counts.elements.begin(), std::plus());
  if (model.accounts()[static_cast<std::size_t>(Account::nothing)] != 0) {
    return "alias and copy differ in what was not reported";
  }
  try {
    const Outcome alias = run(program, ReshapeMode::alias);
    const Outcome copy = run(program, ReshapeMode::copy);
    const Outcome warn = run(program, ReshapeMode::warn);
    ++counts.all;
    counts.reported += warn.reported.empty() ? 0U : 1U;
    counts.differing += alias.reads == copy.reads ? 0U : 1U;
    for (const std::string& failure :
         {failure_of_reads("alias", alias.reads, model.reads_of_aliases()),
          failure_of_reads("warn", warn.reads, model.reads_of_aliases()),
          failure_of_reads("copy", copy.reads, model.reads_of_copies()),
          failure_of_reports(warn, model), failure_of_summary(warn.summary, model),
          flavor == Flavor::whole_and_unique ? failure_of_whole(alias, copy, model) : ""}) {
      if (!failure.empty()) {
        return failure;
      }
    }
    const auto tracks = [](const Outcome& of) { return of.summary.reshapes + of.reported.size(); };
    return tracks(alias) + tracks(copy) == 0 ? "" : "alias or copy tracks";
  } catch (const Error& error) {
    return std::string("what should work was refused: ") + error.what();
  }
}

/// Until one fails.
Counts check_programs(Flavor flavor) {
  const char* const given = std::getenv("BYRE_EQUIVALENCE_PROGRAMS");
  const std::uint64_t programs = given != nullptr ? std::strtoull(given, nullptr, 10) : 40'000;
  const TemporaryFolder folder;
  write_file(folder / "known.txt", suppressed_file);
  shadow::suppress_sites(folder / "known.txt");
  Counts counts;
  const std::uint64_t first = seed();
  for (std::uint64_t number = first; number < first + programs; ++number) {
    const Program program = generate(number, flavor);
    const std::string failure = failure_of(program, flavor, counts);
    if (!failure.empty()) {
      Counts others;
      const Program shorter = shrunk(
          program, [&](const Program& each) { return !failure_of(each, flavor, others).empty(); });
      ADD_FAILURE() << "BYRE_TEST_SEED=" << number << ": " << failure << "\n"
                    << to_string(program) << "in short, " << failure_of(shorter, flavor, others)
                    << "\n"
                    << to_string(shorter);
      break;
    }
  }
  const auto& [unreported, kept_pointers, reported, suppressed] = counts.elements;
  std::printf(
      "%zu programs: %zu report, %zu differ. Elements that do: %zu by kept pointers, %zu "
      "reported, %zu suppressed, %zu neither\n",
      counts.all, counts.reported, counts.differing, kept_pointers, reported, suppressed,
      unreported);
  return counts;
}

TEST(Equivalence, of_programs_that_do_anything_what_differs_was_reported) {
  const Counts counts = check_programs(Flavor::anything);
  if (HasFailure() || counts.all < 1000) {
    return;
  }
  EXPECT_GT(counts.reported, counts.all / 4);
  EXPECT_GT(counts.differing, counts.all / 8);
  EXPECT_GT(counts.all - counts.reported, counts.all / 8);
  EXPECT_EQ(std::ranges::count(counts.elements, 0U), 1);
  EXPECT_EQ(counts.operations.size(), operation_rows.size());
}

TEST(Equivalence, where_all_is_unique_and_whole_a_reported_read_is_a_difference) {
  const Counts counts = check_programs(Flavor::whole_and_unique);
  if (HasFailure() || counts.all < 1000) {
    return;
  }
  EXPECT_GT(counts.differing, counts.all / 6);
  EXPECT_GT(counts.all - counts.reported, counts.all / 4);
}

}  // namespace
}  // namespace byre::test
