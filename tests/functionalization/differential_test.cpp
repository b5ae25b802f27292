// SPDX-License-Identifier: BSL-1.0
// Random programs, each run on plain tensors of the CPU and in all targets of the pass: outputs,
// inputs and what they share are the same bit by bit. Every other one meets the bounds of what an
// alias keeps. BYRE_FUNCTIONALIZATION_PROGRAMS in the environment is how many; BYRE_TEST_SEED the
// first.
#include <byre/functional/functionalize/detail/alias.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#include "support/random.hpp"
#include "targets.hpp"
#include "tensor_programs/generate.hpp"
#include "tensor_programs/shrink.hpp"

namespace byre::test {
namespace {

/// For as long as it lives, aliases of this thread keep few updates and few regions, so that programs
/// of some steps reach both bounds.
class SmallAliasBounds {
 public:
  /// How small is another for each `kind`.
  explicit SmallAliasBounds(std::size_t kind) {
    functional::detail::alias_bounds() = {.updates = 2 + kind % 3, .regions = 1 + kind / 3 % 2};
  }
  SmallAliasBounds(const SmallAliasBounds&) = delete;
  SmallAliasBounds& operator=(const SmallAliasBounds&) = delete;
  ~SmallAliasBounds() { functional::detail::alias_bounds() = {}; }

  static std::size_t updates_reached() {
    return functional::detail::alias_bounds().updates_reached;
  }
  static std::size_t regions_reached() {
    return functional::detail::alias_bounds().regions_reached;
  }
};

/// The smallest program that still differs.
Program shrunk_for(const Program& program, const Target& target) {
  return shrunk(program,
                [&](const Program& smaller) { return !difference(smaller, target).empty(); });
}

/// Until one differs.
void expect_all_agree(const std::vector<Target>& targets) {
  const std::uint64_t first = seed();
  std::size_t done = 0;
  std::size_t refused = 0;
  std::size_t updates_reached = 0;
  std::size_t regions_reached = 0;
  for (std::uint64_t number = 0; number < program_count(); ++number) {
    const Program program = generate(first + number);
    const Outcome expected = run_reference(program);
    for (const char happened : expected.trace.happened) {
      (happened == static_cast<char>(Happened::done) ? done : refused) += 1;
    }
    std::optional<SmallAliasBounds> few;
    if (const std::uint64_t kind = first + number; kind % 2 == 1) {
      few.emplace(kind / 2);
    }
    for (const Target& target : targets) {
      if (!difference(expected, target.run(program)).empty()) {
        const Program smallest = shrunk_for(program, target);
        FAIL() << "BYRE_TEST_SEED=" << first + number << ": " << difference(smallest, target)
               << "\n"
               << to_string(smallest);
      }
    }
    updates_reached += few ? few->updates_reached() : 0;
    regions_reached += few ? few->regions_reached() : 0;
  }
  std::printf(
      "%zu programs: %zu steps, and %zu that were refused or skipped; aliases had as many "
      "updates as they may keep %zu times, and regions %zu times\n",
      program_count(), done, refused, updates_reached, regions_reached);
  EXPECT_GT(done, refused * 2);
  EXPECT_GE(updates_reached, program_count() / 50);
  EXPECT_GE(regions_reached, program_count() / 200);
}

std::vector<Target> targets_named(const char* name) {
  std::vector<Target> some;
  for (const Target& target : all_targets()) {
    if (target.name.starts_with(name)) {
      some.push_back(target);
    }
  }
  return some;
}

TEST(RandomPrograms, agree_with_and_without_the_pass_on_the_cpu) {
  expect_all_agree(targets_named("cpu"));
}

TEST(RandomPrograms, agree_on_graphs_and_the_cpu) {
  expect_all_agree(targets_named("graph"));
}

TEST(RandomPrograms, agree_on_opaques_and_the_cpu) {
  expect_all_agree(targets_named("opaque"));
}

}  // namespace
}  // namespace byre::test
