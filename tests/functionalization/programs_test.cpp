// SPDX-License-Identifier: BSL-1.0
// Random programs run on plain tensors of the CPU and on targets of the pass. Outputs, inputs and
// aliases must be equal bit by bit. Environment: BYRE_FUNCTIONALIZATION_PROGRAMS is the number of
// programs, BYRE_TEST_SEED the first seed.
#include <byre/functional/functionalize/detail/alias.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>

#include "support/random.hpp"
#include "targets.hpp"
#include "tensor_programs/generate.hpp"

namespace byre::test {
namespace {

std::size_t count_of(const Outcome& outcome, StepResult result) {
  return static_cast<std::size_t>(
      std::ranges::count(outcome.trace.results, static_cast<char>(result)));
}

class RandomPrograms : public testing::TestWithParam<const char*> {};

TEST_P(RandomPrograms, random_programs_agree_with_and_without_the_pass) {
  std::vector<Target> targets = all_targets();
  std::erase_if(targets, [](const Target& target) { return !target.name.starts_with(GetParam()); });
  const std::uint64_t first = seed();
  std::size_t done = 0;
  std::size_t others = 0;
  std::size_t updates_reached = 0;
  std::size_t regions_reached = 0;
  for (std::uint64_t number = first; number < first + program_count(); ++number) {
    const Program program = generate(number);
    const Outcome expected = run_reference(program);
    done += count_of(expected, StepResult::done);
    others += expected.trace.results.size() - count_of(expected, StepResult::done);
    // Programs with odd numbers run with lower bounds of updates and regions, so that some steps
    // reach each bound.
    auto& bounds = functional::detail::alias_bounds();
    bounds = {};
    if (number % 2 == 1) {
      bounds = {.updates = 2 + number / 2 % 3, .regions = 1 + number / 6 % 2};
    }
    for (const Target& target : targets) {
      const std::string text = smallest_difference(program, expected, target);
      ASSERT_TRUE(text.empty()) << "BYRE_TEST_SEED=" << number << ": " << text;
    }
    updates_reached += bounds.updates_reached;
    regions_reached += bounds.regions_reached;
  }
  functional::detail::alias_bounds() = {};
  std::printf(
      "%zu programs: %zu steps, and %zu rejected or skipped; the bound of updates was reached "
      "%zu times, the bound of regions %zu times\n",
      program_count(), done, others, updates_reached, regions_reached);
  EXPECT_GT(done, others * 2);
  EXPECT_GE(updates_reached, program_count() / 50);
  EXPECT_GE(regions_reached, program_count() / 200);
}

INSTANTIATE_TEST_SUITE_P(Each, RandomPrograms, testing::Values("cpu", "graph", "opaque"),
                         [](const auto& tested) { return std::string(tested.param); });

std::vector<std::string> operators_of(Effect effect) {
  define_user_operators();
  return operators_that([=](const auto& op) { return op.effect() == effect; });
}

/// Returns the target whose turn it is. Returns all targets if BYRE_FUNCTIONALIZATION_TARGETS=all
/// is in the environment; the test then takes minutes.
std::span<const Target> targets_at(std::uint64_t turn) {
  static const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_TARGETS");
  const std::span<const Target> all = all_targets();
  return given != nullptr && std::string(given) == "all" ? all : all.subspan(turn % all.size(), 1);
}

bool is_done(const std::string& op, const Program& program, const Outcome& outcome) {
  for (std::size_t index = 0; index < program.body.size(); ++index) {
    if (program.body[index].op == op &&
        outcome.trace.results[index] == static_cast<char>(StepResult::done)) {
      return true;
    }
  }
  return false;
}

/// Each program reads the memory after a write through a view, and again after another write.
TEST(EveryPair, a_write_through_a_view_agrees_with_and_without_the_pass) {
  constexpr std::uint64_t programs_of_each = 40;
  std::uint64_t number = seed();
  std::size_t pairs = 0;
  std::size_t done = 0;
  std::map<std::string, std::size_t> written;  // by operator: the number of pairs computed
  for (const std::string& view : operators_of(Effect::view)) {
    for (const std::string& write : operators_of(Effect::write)) {
      ++pairs;
      bool is_written = false;
      for (const std::uint64_t end = number + programs_of_each; number < end; ++number) {
        const Program program = generate_pair(number, view, write);
        const Outcome expected = run_reference(program);
        is_written |= is_done(view, program, expected) && is_done(write, program, expected);
        for (const Target& target : targets_at(number)) {
          const std::string text = smallest_difference(program, expected, target);
          ASSERT_TRUE(text.empty()) << view << " and " << write << ": " << text;
        }
      }
      written[view] += is_written ? 1 : 0;
      written[write] += is_written ? 1 : 0;
      done += is_written ? 1 : 0;
    }
  }
  std::printf("%zu of %zu pairs\n", done, pairs);
  EXPECT_GE(done, pairs - pairs / 20) << "too few pairs were computed within one program";
  for (const auto& [op, times] : written) {
    EXPECT_NE(times, 0U) << op << " was not computed in any program of its pairs";
  }
}

/// Known-wrong targets: graphs in which scatters of one kind return their base unchanged.
class Updates : public testing::TestWithParam<const char*> {};

TEST_P(Updates, a_short_program_detects_an_ignored_scatter) {
  constexpr std::uint64_t most = 20'000;
  const std::string scatter = GetParam();
  const bool by_strides = scatter == "as_strided_scatter";
  const Target wrong =
      on_graph({false, by_strides ? ViewPaths::strides : ViewPaths::chains}, [&](Graph& graph) {
        for (functional::GraphNode& node : graph.nodes) {
          if (!node.is_constant() && node.op->name() == scatter) {
            node.op = &functional::find("clone");
            node.arguments.resize(1);
          }
        }
      });
  const std::uint64_t first = seed();
  for (std::uint64_t number = first; number < first + most; ++number) {
    const Program program = generate(number);
    if (difference(program, wrong).empty()) {
      continue;
    }
    const Program smallest = shrunk(
        program, [&wrong](const Program& smaller) { return !difference(smaller, wrong).empty(); });
    std::printf("after %llu programs:\n%s", static_cast<unsigned long long>(number - first),
                to_string(smallest).c_str());
    EXPECT_LE(smallest.body.size(), 5U);
    EXPECT_LE(smallest.setup.size(), 5U);
    EXPECT_EQ(difference(smallest, on_graph({})), "") << "only the ignored scatters may differ";
    return;
  }
  FAIL() << "no program of " << most << " detects the ignored scatter";
}

INSTANTIATE_TEST_SUITE_P(Each, Updates,
                         testing::Values("select_scatter", "slice_scatter", "diagonal_scatter",
                                         "as_strided_scatter"));

}  // namespace
}  // namespace byre::test
