// SPDX-License-Identifier: BSL-1.0
// Random programs under vmap: one run over a batch does to outputs and inputs what a run for each
// of it does. What vmap does not do is counted.
#include <gtest/gtest.h>

#include <cstdio>

#include "batch.hpp"
#include "support/random.hpp"
#include "tensor_programs/generate.hpp"
#include "tensor_programs/random_calls.hpp"
#include "tensor_programs/shrink.hpp"

namespace byre::test {
namespace {

functional::Program plain(const functional::Program& f) {
  return f;
}
functional::Program functionalized(const functional::Program& f) {
  return functionalize(f);
}
functional::Program captured(const functional::Program& f) {
  return [f](const Tensors& in) { return functional::capture(f, in)(in); };
}

constexpr BatchTarget batch_targets[] = {
    {"with_the_pass_in_vmap", Flavor::anything, functionalized, plain},
    {"with_vmap_in_the_pass", Flavor::anything, plain, functionalized},
    {"of_pure_operators", Flavor::pure, plain, plain},
    {"of_pure_operators_on_opaques", Flavor::pure, plain, plain, false, true},
    {"of_batches", Flavor::pure, plain, plain, true},
    {"of_batches_in_the_pass", Flavor::pure, plain, functionalized, true},
    {"of_batches_captured", Flavor::pure, plain, captured, true}};

class Batches : public testing::TestWithParam<BatchTarget> {};

TEST_P(Batches, of_random_programs_are_those_of_each_member) {
  const BatchTarget& target = GetParam();
  const std::uint64_t count = program_count() / (target.flavor == Flavor::pure ? 10 : 4);
  const std::uint64_t first = seed();
  std::map<std::string, std::uint64_t> refused;
  std::map<std::string, std::uint64_t> done;
  std::uint64_t refusals = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Program program = generate(number, target.flavor);
    const BatchOutcome outcome = run_batch(program, target);
    if (!outcome.difference.empty()) {
      const Program smallest = shrunk(program, [&](const Program& smaller) {
        return !run_batch(smaller, target).difference.empty();
      });
      FAIL() << "BYRE_TEST_SEED=" << number << ": " << run_batch(smallest, target).difference
             << "\n"
             << to_string(smallest);
    }
    if (!outcome.refused_by.empty()) {
      ++refused[outcome.refused_by];
      ++refusals;
    }
    for (std::size_t step = 0; step < outcome.happened.size(); ++step) {
      done[program.body[step].op] += outcome.happened[step] == '.' ? 1U : 0U;
    }
  }
  std::printf("%llu programs, %llu of which vmap refuses:\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(refusals));
  for (const auto& [op, times] : refused) {
    std::printf("  %s %llu\n", op.c_str(), static_cast<unsigned long long>(times));
  }
  EXPECT_LE(refusals, target.flavor == Flavor::pure ? 0 : count / 4);
  if (target.flavor == Flavor::pure && count >= 1000) {
    for (const std::string& op : RandomCalls::names()) {
      EXPECT_GE(done[op], count / 50) << op;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Batches, testing::ValuesIn(batch_targets),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace byre::test
