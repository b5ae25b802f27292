// SPDX-License-Identifier: BSL-1.0
// Known-wrong targets, which ignore updates of one kind, are refuted on every run, each by a
// program that shrinks to a few steps.

#include <gtest/gtest.h>

#include <cstdio>

#include "support/random.hpp"
#include "targets.hpp"
#include "tensor_programs/generate.hpp"
#include "tensor_programs/shrink.hpp"

namespace byre::test {
namespace {

class Updates : public testing::TestWithParam<const char*> {
 protected:
  /// On graphs that keep what they had where `scatter` would have put something.
  static Target without_updates(const std::string& scatter) {
    const ViewPaths paths =
        scatter == "as_strided_scatter" ? ViewPaths::strides : ViewPaths::chains;
    return on_graph({false, paths}, [scatter](Graph& graph) {
      for (functional::GraphNode& node : graph.nodes) {
        if (!node.is_constant() && node.op->name() == scatter) {
          node.op = &functional::find("clone");
          node.arguments.resize(1);
        }
      }
    });
  }
};

TEST_P(Updates, that_are_ignored_are_refuted_by_a_program_of_a_few_steps) {
  constexpr std::uint64_t most = 20'000;
  const Target wrong = without_updates(GetParam());
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
    EXPECT_EQ(difference(smallest, on_graph({})), "") << "what was left out is what differs";
    return;
  }
  FAIL() << "no program of " << most << " needs it";
}

INSTANTIATE_TEST_SUITE_P(Each, Updates,
                         testing::Values("select_scatter", "slice_scatter", "diagonal_scatter",
                                         "as_strided_scatter"));

}  // namespace
}  // namespace byre::test
