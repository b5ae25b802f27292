// SPDX-License-Identifier: BSL-1.0
/// What a detection run takes for a finding, and what not.
#include <gtest/gtest.h>

#include <stdexcept>

#include "../seeded_bugs/detection.hpp"
#include "support/complaint.hpp"
#include "support/sanitized.hpp"

namespace byre::stress::seeded_bugs {
namespace {

constexpr std::chrono::seconds hang_timeout{20};

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

TEST(BugRun, tells_a_wrong_result_from_none) {
  EXPECT_EQ(run_in_child(&finds_nothing, {}, hang_timeout).verdict, Verdict::not_found);
  const Finding finding = run_in_child(&finds_something, {}, hang_timeout);
  EXPECT_EQ(finding.verdict, Verdict::wrong_result);
  EXPECT_EQ(finding.text, "round 0: two copies");
}

TEST(BugRun, that_cannot_run_its_race_has_found_nothing) {
  EXPECT_THROW(run_in_child(&cannot_be_run, {}, hang_timeout), std::runtime_error);
  EXPECT_THROW(run_in_child(&ends_the_process, {}, hang_timeout), std::runtime_error);
  const Bug& bug = all_bugs().front();
  EXPECT_THROW(run_in_child(bug.run, {.threads = 1}, hang_timeout), std::runtime_error);
}

/// All bugs, of which so many were found after fewer rounds with perturbation.
std::vector<Detection> detections_with(std::uint64_t sooner) {
  std::vector<Detection> detections;
  for (const Bug& bug : all_bugs()) {
    const bool is_sooner = detections.size() < sooner;
    detections.push_back({&bug,
                          {{Verdict::wrong_result, 100, ""}},
                          {{Verdict::wrong_result, std::uint64_t{is_sooner ? 3U : 100U}, ""}}});
  }
  return detections;
}

TEST(DetectionRun, fails_if_perturbation_does_not_help) {
  if (test::is_sanitized) {
    GTEST_SKIP() << "nothing is run without perturbation in this build";
  }
  EXPECT_TRUE(perturbation_helps(detections_with(least_sooner_if_perturbed)));
  const auto too_few = detections_with(least_sooner_if_perturbed - 1);
  EXPECT_FALSE(perturbation_helps(too_few));
  EXPECT_TRUE(test::says(foot_of_table(too_few), "FAILED"));
  EXPECT_TRUE(perturbation_helps({too_few.front()})) << "of one bug it is not judged";
}

}  // namespace
}  // namespace byre::stress::seeded_bugs
