// SPDX-License-Identifier: BSL-1.0
/// Runs every race, perturbed and not.
#include <gtest/gtest.h>
#include <byre/config.hpp>
#include <byre/observe/counters.hpp>

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "race.hpp"
#include "support/sanitized.hpp"

namespace byre::stress {
namespace {

/// A sanitizer is slower, but detects in one round an error that otherwise takes many rounds.
constexpr std::uint64_t slowness = test::is_sanitized ? 5 : 1;

std::string text_of(const RaceResult& result) {
  std::string text;
  for (const std::string& failure : result.failures) {
    text += failure + '\n';
  }
  return text;
}

class Races : public testing::TestWithParam<std::tuple<Race, unsigned>> {
 protected:
  static RaceResult run(const RaceSettings& settings) {
    return std::get<0>(GetParam()).run(settings);
  }
  static unsigned threads() { return std::get<1>(GetParam()); }
};

TEST_P(Races, have_exactly_the_expected_outcome) {
  const std::uint64_t rounds = (threads() > 8 ? 50 : 1000) / slowness;
  const RaceResult result = run({.threads = threads(), .rounds = rounds});
  EXPECT_EQ(result.rounds, rounds);
  EXPECT_EQ(result.delays, 0U);
  EXPECT_TRUE(result.failures.empty()) << text_of(result);
}

TEST_P(Races, have_the_same_outcome_on_perturbed_schedules) {
  const std::uint64_t rounds = (threads() > 8 ? 25 : 500) / slowness;
  const RaceResult result =
      run({.threads = threads(), .rounds = rounds, .perturbation = usual_perturbation});
  EXPECT_EQ(result.rounds, rounds);
  EXPECT_GT(result.delays, rounds);
  EXPECT_TRUE(result.failures.empty()) << text_of(result);
}

INSTANTIATE_TEST_SUITE_P(All, Races,
                         testing::Combine(testing::ValuesIn(all_races()),
                                          testing::Values(2U, 3U, 64U)),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param).name) + "_" +
                                  std::to_string(std::get<1>(chosen.param));
                         });

const Race& race_named(std::string_view name) {
  for (const Race& race : all_races()) {
    if (race.name == name) {
      return race;
    }
  }
  throw std::invalid_argument("unknown race");
}

/// Takes many rounds, because in a single round the copies may end before the last owner checks.
TEST(Races, a_race_with_pending_copies_includes_steals_and_waits) {
  std::stop_source stop;
  const stats::Counters before = stats::snapshot();
  bool waited = BYRE_STATS == 0;
  const RaceResult result = race_named("steal_against_pending_copies")
                                .run({
                                    .rounds = 1'000'000,
                                    .perturbation = usual_perturbation,
                                    .stop = stop.get_token(),
                                    .after_round =
                                        [&](const RaceResult& so_far) {
                                          waited = waited || (stats::snapshot() - before).waits > 0;
                                          if (waited && so_far.counts.stole > 0) {
                                            stop.request_stop();
                                          }
                                        },
                                });
  EXPECT_GT(result.counts.stole, 0U);
  EXPECT_TRUE(waited);
  EXPECT_TRUE(result.failures.empty()) << text_of(result);
}

TEST(RaceSettings, logs_record_the_last_steps_of_each_thread) {
  std::vector<programs::Log> logs(2);
  const RaceResult result =
      race_named("drops_against_drops").run({.threads = 2, .rounds = 1, .logs = logs.data()});
  EXPECT_TRUE(result.failures.empty()) << text_of(result);
  EXPECT_EQ(programs::lines_of(logs),
            (std::vector<std::string>{"thread 0: begins", "thread 0: drops", "thread 0: dropped",
                                      "thread 1: begins", "thread 1: drops", "thread 1: dropped"}));
}

TEST(RaceSettings, out_of_range_throw) {
  const Race& race = all_races().front();
  EXPECT_THROW(race.run({.threads = 1}), std::invalid_argument);
  EXPECT_THROW(race.run({.threads = 65}), std::invalid_argument);
  EXPECT_THROW(race.run({.nbytes = 0}), std::invalid_argument);
}

TEST(RaceSettings, a_stop_request_ends_a_race_before_its_next_round) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(all_races().front().run({.stop = stop.get_token()}).rounds, 0U);
}

}  // namespace

void PrintTo(const Race& race, std::ostream* out) {
  *out << race.name;
}

}  // namespace byre::stress
