// SPDX-License-Identifier: BSL-1.0
// Random programs, each run where reshape aliases, where it copies, and where it aliases and warns:
// warn reports nothing if and only if the other two compute the same values for every read, but for
// the exceptions that worlds.hpp lists. Each element that differs in a read was reported by
// then, but for those that element.hpp lists. BYRE_EQUIVALENCE_PROGRAMS in the environment is how many
// of each kind; with some hundred thousand in one process, places of reports run out.
#include <byre/shadow/silence.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "check.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

std::size_t programs() {
  const char* const given = std::getenv("BYRE_EQUIVALENCE_PROGRAMS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 40'000;
}

struct Tally {
  std::size_t all = 0;
  std::size_t reported = 0;
  std::size_t differing = 0;
  std::size_t errors = 0;
  std::size_t silenced = 0;
  std::array<std::size_t, reasons> reports{};
  std::array<std::size_t, 4> advice{};
  std::array<std::size_t, accounts> accounts_of_reads{};
  std::array<std::size_t, operations> statements{};

  void add(const Program& program, const Verdict& verdict) {
    ++all;
    reported += verdict.is_reported ? 1 : 0;
    differing += verdict.differs ? 1 : 0;
    errors += verdict.errors;
    silenced += verdict.silenced;
    add(reports, verdict.reports);
    add(advice, verdict.advice);
    add(accounts_of_reads, verdict.accounts_of_reads);
    for (const Statement& statement : program) {
      ++statements[static_cast<std::size_t>(statement.operation)];
    }
  }
  template <std::size_t Count>
  static void add(std::array<std::size_t, Count>& to, const std::array<std::size_t, Count>& more) {
    std::ranges::transform(to, more, to.begin(), std::plus());
  }
  std::size_t count(Reason reason) const { return reports[static_cast<std::size_t>(reason)]; }

  void print() const {
    std::printf("%zu programs: %zu report, %zu differ. Elements that do:", all, reported,
                differing);
    for (std::size_t why = 0; why < accounts; ++why) {
      std::printf(" %s %zu", to_string(static_cast<Account::Why>(why)), accounts_of_reads[why]);
    }
    std::printf(". Reports:");
    for (std::size_t reason = 0; reason < reasons; ++reason) {
      std::printf(" %s %zu", to_string(static_cast<Reason>(reason)), reports[reason]);
    }
    std::printf("; errors %zu, silenced %zu. Advice:", errors, silenced);
    for (std::size_t each = 0; each < advice.size(); ++each) {
      std::printf(" %s %zu", to_string(static_cast<shadow::Advice>(each)), advice[each]);
    }
    std::printf(". Statements:");
    for (std::size_t each = 0; each < operations; ++each) {
      std::printf(" %s %zu", name_of(static_cast<Operation>(each)), statements[each]);
    }
    std::printf("\n");
  }
};

void silence_what_is_listed() {
  static const TemporaryFolder folder;
  static const bool is_silenced = [] {
    write_file(folder / "known.txt", listed_file);
    shadow::silence_sites(folder / "known.txt");
    return true;
  }();
  static_cast<void>(is_silenced);
}

/// Until one fails.
Tally check_programs(Flavor flavor) {
  silence_what_is_listed();
  Tally tally;
  const std::uint64_t first = seed();
  for (std::uint64_t number = 0; number < programs(); ++number) {
    const Program program = generate(first + number, flavor);
    const Verdict verdict = check(program, flavor);
    tally.add(program, verdict);
    if (!verdict.failure.empty()) {
      const Program shorter = shrunk(program, flavor);
      ADD_FAILURE() << "BYRE_TEST_SEED=" << first + number << ": " << verdict.failure << "\n"
                    << to_string(program) << "in short, " << check(shorter, flavor).failure << "\n"
                    << to_string(shorter);
      break;
    }
  }
  tally.print();
  return tally;
}

TEST(Equivalence, programs_that_do_anything_are_told_of_what_differs) {
  const Tally tally = check_programs(Flavor::anything);
  if (HasFailure() || tally.all < 1000) {
    return;
  }
  EXPECT_GT(tally.reported, tally.all / 4);
  EXPECT_GT(tally.differing, tally.all / 8);
  EXPECT_GT(tally.all - tally.reported, tally.all / 8);
  for (std::size_t reason = 0; reason < reasons; ++reason) {
    EXPECT_EQ(tally.reports[reason] == 0, static_cast<Reason>(reason) == Reason::inexplicable)
        << to_string(static_cast<Reason>(reason));
  }
  EXPECT_EQ(tally.accounts_of_reads[0], 0U);
  EXPECT_EQ(std::ranges::count(tally.accounts_of_reads, 0U), 1);
  EXPECT_GT(tally.errors, 0U);
  EXPECT_GT(tally.silenced, 0U);
  EXPECT_EQ(std::ranges::count(tally.advice, 0U), 0);
  EXPECT_EQ(std::ranges::count(tally.statements, 0U), 0);
}

TEST(Equivalence, where_all_is_unique_and_whole_a_reported_read_is_a_difference) {
  const Tally tally = check_programs(Flavor::whole_and_unique);
  if (HasFailure() || tally.all < 1000) {
    return;
  }
  EXPECT_GT(tally.differing, tally.all / 6);
  EXPECT_GT(tally.all - tally.reported, tally.all / 4);
  EXPECT_GT(tally.count(Reason::overwrites), tally.all / 20);
}

}  // namespace
}  // namespace byre::test
