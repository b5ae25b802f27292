// SPDX-License-Identifier: BSL-1.0
// Random programs, each run where reshape aliases, where it copies, and where it aliases and warns. Each
// element that differs between the first two in a read was reported by then, but for the exceptions of
// Account; and what is reported is what the reference model says, and nothing else.
// BYRE_EQUIVALENCE_PROGRAMS in the environment is how many programs of each kind.
#include <byre/error/error.hpp>
#include <byre/shadow/suppression.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "generate.hpp"
#include "model.hpp"
#include "run_program.hpp"
#include "support/random.hpp"
#include "support/shrink.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;

struct Verdict {
  std::string failure{};  ///< what is wrong; empty if nothing is
  bool is_reported = false;
  bool differs = false;
  std::array<std::size_t, accounts> accounts_of_reads{};
};

std::string difference(const char* what, const Reads& reads, const Reads& expected) {
  const auto [at, wanted] = std::ranges::mismatch(reads, expected);
  if (at == reads.end() && wanted == expected.end()) {
    return "";
  }
  const Read& read = at == reads.end() ? *wanted : *at;
  return what + std::string(" does not read what is there at ") + std::to_string(read.number);
}

/// Of everything that is met, what is reported: errors each, else each triple the first time.
std::vector<Reported> reported_of(const std::vector<Reported>& met) {
  std::vector<Reported> reported;
  std::set<std::array<std::uint32_t, 3>> triples;
  std::ranges::copy_if(met, std::back_inserter(reported), [&](const Reported& each) {
    return each.is_error || triples.insert({each.reshape, each.write, each.access}).second;
  });
  return reported;
}

bool is_so(const Account& account, const Outcome& warn, const Model& model) {
  switch (account.why) {
    case Account::Why::kept_pointer:
      return warn.summary.untracked_escapes != 0;
    case Account::Why::reported: {
      const Reported& met = model.met()[account.which];
      return std::ranges::any_of(warn.reported, [&](const Reported& each) {
        return each.reshape == met.reshape && each.write == met.write &&
               each.access == met.access && each.is_error == met.is_error &&
               (met.is_error ? each.number == met.number : each.number <= met.number);
      });
    }
    case Account::Why::suppressed:
      return warn.summary.suppressed != 0;
    default:
      return false;
  }
}

/// The claim itself, of what really ran.
std::string failure_of_claim(const Outcome& alias, const Outcome& copy, const Outcome& warn,
                             const Model& model) {
  for (std::size_t index = 0; index < alias.reads.size(); ++index) {
    const Accounts& all = model.accounts_of_reads()[index];
    const bool accounted = !all.empty() && std::ranges::all_of(all, [&](const Account& account) {
      return is_so(account, warn, model);
    });
    if (alias.reads[index] != copy.reads[index] && !accounted) {
      return "alias and copy differ at " + std::to_string(alias.reads[index].number) +
             ", unreported; warn reports" + to_string(warn.reported);
    }
  }
  return "";
}

/// Where every value is unique and every access of all there is: a reported read differs.
std::string failure_of_whole(const Outcome& alias, const Outcome& copy, const Model& model) {
  for (const Reported& met : model.met()) {
    const auto differs = [&](const Read& read) {
      const auto index = static_cast<std::size_t>(&read - alias.reads.data());
      return read.number == met.number && read != copy.reads[index];
    };
    if (!met.access_writes && std::ranges::none_of(alias.reads, differs)) {
      return "a read is reported, and does not differ, at " + std::to_string(met.number);
    }
  }
  return "";
}

Verdict check(const Program& program, Flavor flavor) {
  Verdict verdict;
  Model model;
  std::uint32_t number = 0;
  for (const Statement& statement : program) {
    if (!model.run(statement, ++number)) {
      return {};  // while it is shrunk
    }
  }
  for (const Accounts& of_read : model.accounts_of_reads()) {
    for (const Account& account : of_read) {
      ++verdict.accounts_of_reads[static_cast<std::size_t>(account.why)];
    }
  }
  try {
    const Outcome alias = run(program, ReshapeMode::alias);
    const Outcome copy = run(program, ReshapeMode::copy);
    const Outcome warn = run(program, ReshapeMode::warn);
    verdict.is_reported = !warn.reported.empty();
    verdict.differs = alias.reads != copy.reads;
    const std::vector<Reported> expected = reported_of(model.met());
    const bool is_quiet = alias.summary.reshapes + alias.summary.violations +
                              copy.summary.reshapes + copy.summary.violations ==
                          0;
    for (const std::string& failure :
         {difference("alias", alias.reads, model.reads_of_aliases()),
          difference("warn", warn.reads, model.reads_of_aliases()),
          difference("copy", copy.reads, model.reads_of_copies()),
          failure_of_claim(alias, copy, warn, model),
          flavor == Flavor::whole_and_unique ? failure_of_whole(alias, copy, model) : "",
          is_quiet ? std::string() : std::string("alias or copy tracks"),
          warn.reported == expected
              ? ""
              : "warn reports" + to_string(warn.reported) + ", and should" + to_string(expected)}) {
      verdict.failure = verdict.failure.empty() ? failure : verdict.failure;
    }
  } catch (const Error& error) {
    verdict.failure = std::string("what should work was refused: ") + error.what();
  }
  return verdict;
}

struct Counts {
  std::size_t all = 0;
  std::size_t reported = 0;
  std::size_t differing = 0;
  std::array<std::size_t, accounts> accounts_of_reads{};
  std::set<Operation> operations_met{};
};

/// Until one fails.
Counts check_programs(Flavor flavor) {
  const char* const given = std::getenv("BYRE_EQUIVALENCE_PROGRAMS");
  const std::uint64_t programs = given != nullptr ? std::strtoull(given, nullptr, 10) : 40'000;
  static const bool is_suppressed = [] {
    const TemporaryFolder folder;
    write_file(folder / "known.txt", suppressed_file);
    shadow::suppress_sites(folder / "known.txt");
    return true;
  }();
  static_cast<void>(is_suppressed);
  Counts counts;
  const std::uint64_t first = seed();
  for (std::uint64_t number = first; number < first + programs; ++number) {
    const Program program = generate(number, flavor);
    const Verdict verdict = check(program, flavor);
    ++counts.all;
    counts.reported += verdict.is_reported ? 1 : 0;
    counts.differing += verdict.differs ? 1 : 0;
    for (std::size_t why = 0; why < accounts; ++why) {
      counts.accounts_of_reads[why] += verdict.accounts_of_reads[why];
    }
    for (const Statement& statement : program) {
      counts.operations_met.insert(statement.operation);
    }
    if (!verdict.failure.empty()) {
      const Program shorter = shrunk(
          program, [&](const Program& each) { return !check(each, flavor).failure.empty(); });
      ADD_FAILURE() << "BYRE_TEST_SEED=" << number << ": " << verdict.failure << "\n"
                    << to_string(program) << "in short, " << check(shorter, flavor).failure << "\n"
                    << to_string(shorter);
      break;
    }
  }
  std::printf(
      "%zu programs: %zu report, %zu differ. Elements that do: %zu by kept pointers, %zu "
      "reported, %zu suppressed\n",
      counts.all, counts.reported, counts.differing, counts.accounts_of_reads[1],
      counts.accounts_of_reads[2], counts.accounts_of_reads[3]);
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
  EXPECT_EQ(counts.accounts_of_reads[0], 0U);
  EXPECT_EQ(std::ranges::count(counts.accounts_of_reads, 0U), 1);
  EXPECT_EQ(counts.operations_met.size(), operations);
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
