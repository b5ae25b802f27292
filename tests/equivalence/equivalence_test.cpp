// SPDX-License-Identifier: BSL-1.0
// Random programs, each run where reshape aliases, where it copies, and where it aliases and warns:
// warn reports nothing if and only if the other two compute the same values for every read, but for
// the exceptions that worlds.hpp lists. A difference is reported without exception, and no later than
// where it is first read. BYRE_EQUIVALENCE_PROGRAMS in the environment is how many of each kind; with
// some hundred thousand in one process, places of reports run out.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../unit/support/seed.hpp"
#include "check.hpp"

namespace byre::test {
namespace {

std::size_t programs() {
  const char* const given = std::getenv("BYRE_EQUIVALENCE_PROGRAMS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20'000;
}

struct Tally {
  std::size_t all = 0;
  std::size_t reported = 0;
  std::size_t differing = 0;
  std::array<std::size_t, reasons> reports{};

  void add(const Verdict& verdict) {
    ++all;
    reported += verdict.is_reported ? 1 : 0;
    differing += verdict.differs ? 1 : 0;
    for (std::size_t reason = 0; reason < reasons; ++reason) {
      reports[reason] += verdict.reports[reason];
    }
  }
  std::size_t count(Reason reason) const { return reports[static_cast<std::size_t>(reason)]; }

  void print() const {
    std::printf("%zu programs: %zu report, %zu differ. Reports:", all, reported, differing);
    for (std::size_t reason = 0; reason < reasons; ++reason) {
      std::printf(" %s %zu", to_string(static_cast<Reason>(reason)), reports[reason]);
    }
    std::printf("\n");
  }
};

/// Until one fails.
Tally check_programs(Flavor flavor) {
  Tally tally;
  const std::uint64_t first = seed();
  for (std::uint64_t number = 0; number < programs(); ++number) {
    const Program program = generate(first + number, flavor);
    const Verdict verdict = check(program, flavor);
    tally.add(verdict);
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
