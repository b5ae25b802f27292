// SPDX-License-Identifier: BSL-1.0
// Random programs under vmap: one run over a batch does to outputs and inputs what a run for each
// of it does. What vmap does not do is counted.
#include <gtest/gtest.h>

#include <cstdio>

#include "batch.hpp"
#include "generate.hpp"
#include "shrink.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

class Batches : public testing::TestWithParam<Nesting> {};

TEST_P(Batches, of_random_programs_are_those_of_each_member) {
  const std::uint64_t count = program_count() / 4;
  const std::uint64_t first = seed();
  std::map<std::string, std::uint64_t> refused;
  std::uint64_t refusals = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Program program = generate(number);
    const BatchOutcome outcome = run_batch(program, GetParam());
    if (!outcome.difference.empty()) {
      const Program smallest = shrunk(program, [](const Program& smaller) {
        return !run_batch(smaller, GetParam()).difference.empty();
      });
      FAIL() << "BYRE_TEST_SEED=" << number << ": " << run_batch(smallest, GetParam()).difference
             << "\n"
             << to_string(smallest);
    }
    if (!outcome.refused_by.empty()) {
      ++refused[outcome.refused_by];
      ++refusals;
    }
  }
  std::printf("%llu programs, %llu of which vmap refuses:\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(refusals));
  for (const auto& [op, times] : refused) {
    std::printf("  %s %llu\n", op.c_str(), static_cast<unsigned long long>(times));
  }
  EXPECT_LE(refusals, count / 4);
}

INSTANTIATE_TEST_SUITE_P(Each, Batches,
                         testing::Values(Nesting::pass_in_vmap, Nesting::vmap_in_pass),
                         [](const auto& tested) {
                           return tested.param == Nesting::pass_in_vmap ? "with_the_pass_in_vmap"
                                                                        : "with_vmap_in_the_pass";
                         });

}  // namespace
}  // namespace byre::test
