// SPDX-License-Identifier: BSL-1.0
#include "support/random.hpp"

#include <array>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/shrink.hpp"

namespace byre::test {
namespace {

TEST(Random, numbers_are_equal_on_all_platforms) {
  // The first numbers of SplitMix64 for the seed 1234567.
  RandomEngine engine(1234567);
  EXPECT_EQ(engine(), 6457827717110365317U);
  EXPECT_EQ(engine(), 3203168211198807973U);
}

TEST(Random, every_number_between_the_bounds_is_drawn) {
  Random random(1);
  std::set<int> seen;
  for (int draw = 0; draw < 1000; ++draw) {
    seen.insert(random.number(-2, 2));
  }
  EXPECT_EQ(seen, (std::set<int>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.below(0), 0);
  EXPECT_EQ(random.below(1U), 0U);
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_NE(random.number(Limits::min(), Limits::max()),
            random.number(Limits::min(), Limits::max()));
}

TEST(Random, elements_are_drawn_in_proportion_to_their_weights) {
  struct Weighted {
    int weight;
    int count = 0;
  };
  std::array<Weighted, 3> all{{{1}, {0}, {9}}};
  Random random(1);
  for (int draw = 0; draw < 10000; ++draw) {
    ++random.one_by_weight(all).count;
  }
  EXPECT_NEAR(all[0].count, 1000, 200);
  EXPECT_EQ(all[1].count, 0);
  EXPECT_NEAR(all[2].count, 9000, 200);
}

TEST(Random, a_shuffle_preserves_the_elements) {
  std::vector<int> all{1, 2, 3, 4, 5};
  Random(1).shuffle(all);
  EXPECT_NE(all, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(std::set<int>(all.begin(), all.end()), (std::set<int>{1, 2, 3, 4, 5}));
}

using Steps = std::vector<int>;

TEST(Shrinker, removes_steps_that_the_failure_does_not_need) {
  Steps steps;
  for (int step = 0; step < 100; ++step) {
    steps.push_back(step);
  }
  const auto fails = [](const Steps& some) {
    const std::set<int> all(some.begin(), some.end());
    return all.count(17) != 0 && all.count(80) != 0;
  };
  const auto drop = [](Shrinker<Steps>& shrinker) { shrinker.drop_from(std::identity()); };
  EXPECT_EQ(shrunk(steps, fails, drop), (Steps{17, 80}));
}

TEST(Shrinker, simplifies_values_while_the_test_still_fails) {
  const auto fails = [](const Steps& some) { return !some.empty() && some.front() >= 40; };
  const Steps least = shrunk(Steps{1000, 3}, fails, [](Shrinker<Steps>& shrinker) {
    shrinker.drop_from(std::identity());
    shrinker.simplify([](Steps& steps) -> int& { return steps.front(); },
                      [](int value) {
                        return Steps{value / 2, value - 1};
                      });
  });
  EXPECT_EQ(least, Steps{40});
}

}  // namespace
}  // namespace byre::test
