// SPDX-License-Identifier: BSL-1.0
/// What the hunt for planted bugs takes for a finding, and what it does not.
#include <gtest/gtest.h>

#include <stdexcept>

#include "../planted/hunt.hpp"
#include "../races/sanitized.hpp"

namespace byre::stress::planted {
namespace {

constexpr std::chrono::seconds patience{20};

RaceResult finds_nothing(const RaceSettings&) {
  return {};
}
RaceResult finds_something(const RaceSettings& settings) {
  RaceResult result;
  result.failures = {"round 0: two copies"};
  settings.after_round(result);
  return result;
}
RaceResult cannot_be_run(const RaceSettings&) {
  throw std::runtime_error("no thread to be had");
}
RaceResult ends_the_process(const RaceSettings&) {
  std::_Exit(9);
}

TEST(Child, tells_a_wrong_result_from_none) {
  EXPECT_EQ(run_in_child(&finds_nothing, {}, patience).ended, Ended::in_peace);
  const Ending ending = run_in_child(&finds_something, {}, patience);
  EXPECT_EQ(ending.ended, Ended::by_failure);
  EXPECT_EQ(ending.text, "round 0: two copies");
}

TEST(Child, that_cannot_run_its_race_has_found_nothing) {
  EXPECT_THROW(run_in_child(&cannot_be_run, {}, patience), std::runtime_error);
  EXPECT_THROW(run_in_child(&ends_the_process, {}, patience), std::runtime_error);
  const Bug& bug = all_bugs().front();
  EXPECT_THROW(run_in_child(bug.run, {.threads = 1}, patience), std::runtime_error);
}

/// All bugs, of which so many were found after fewer rounds with perturbation.
std::vector<Catch> catches_with(std::uint64_t sooner) {
  std::vector<Catch> catches;
  for (const Bug& bug : all_bugs()) {
    const bool is_sooner = catches.size() < sooner;
    catches.push_back({&bug,
                       {{Ended::by_failure, 100, ""}},
                       {{Ended::by_failure, std::uint64_t{is_sooner ? 3U : 100U}, ""}}});
  }
  return catches;
}

TEST(Hunt, fails_if_perturbation_does_not_help) {
  if (is_sanitized) {
    GTEST_SKIP() << "nothing is run without perturbation in this build";
  }
  EXPECT_TRUE(perturbation_helps(catches_with(least_sooner_if_perturbed)));
  const auto too_few = catches_with(least_sooner_if_perturbed - 1);
  EXPECT_FALSE(perturbation_helps(too_few));
  EXPECT_NE(foot_of_table(too_few).find("FAILED"), std::string::npos);
  EXPECT_TRUE(perturbation_helps({too_few.front()})) << "of one bug it is not judged";
}

}  // namespace
}  // namespace byre::stress::planted
