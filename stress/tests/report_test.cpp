// SPDX-License-Identifier: BSL-1.0
/// A failure says all that is needed to look into it.
#include "../report/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

#include "../crash_handler.hpp"
#include "../mixed/operation_log.hpp"
#include "../soak/resources.hpp"
#include "../watchdog.hpp"
#include "support/complaint.hpp"

namespace byre::stress {
namespace {

using test::says;

TEST(Report, a_failure_names_the_seed_the_last_operations_and_the_command_that_repeats_it) {
  Outcome outcome;
  outcome.workload = "mixed";
  outcome.settings.seed = 7;
  outcome.settings.operations = 100;
  outcome.failures = {"thread 2: a storage is stale"};
  OperationLog log;
  log.begin({.operation = Operation::clone, .slot = 5, .nbytes = 64, .fault = Fault::copy});
  outcome.last_operations = log.lines(4);
  const std::string text = text_of(outcome);
  EXPECT_TRUE(says(text, "seed 7", "thread 2: a storage is stale",
                   "#0 clone, slot 1, other 0, choice 0, 64 bytes, fault copy after 0: "
                   "under way",
                   "again: byre-stress --workload mixed --seed 7 ", "--operations 100"));
  EXPECT_FALSE(says(text, "all right")) << text;
}

TEST(Report, the_log_keeps_the_last_operations) {
  OperationLog log;
  for (int count = 0; count < 100; ++count) {
    log.begin({});
    log.end("done");
  }
  EXPECT_TRUE(says(log.lines(1).front(), "#92 ")) << log.lines(1).front();
  EXPECT_TRUE(says(log.lines(1).back(), "#99 ")) << log.lines(1).back();
}

TEST(ReportDeathTest, a_program_that_dies_says_what_repeats_it) {
  EXPECT_DEATH(
      {
        const CrashHandler crash_handler(
            "byre-stress --seed 7", [] { return std::vector<std::string>{"thread 0 #1 read"}; });
        std::abort();
      },
      "ended by signal.*\nagain: byre-stress --seed 7\n  thread 0 #1 read");
}

TEST(ReportDeathTest, a_run_that_hangs_is_ended_and_says_what_repeats_it) {
  EXPECT_EXIT(
      {
        const CrashHandler crash_handler(
            "byre-stress --seed 7", [] { return std::vector<std::string>{"thread 0 #1 read"}; });
        Watchdog watchdog(crash_handler, std::chrono::seconds(0));
        watchdog.observe(4);
        watchdog.observe(5);
        for (;;) {
          watchdog.observe(5);
        }
      },
      testing::ExitedWithCode(1),
      "no operation ended for 0 seconds: some thread hangs\n"
      "again: byre-stress --seed 7\n  thread 0 #1 read");
}

TEST(Report, of_a_race_has_no_figures_that_races_do_not_have) {
  Outcome outcome;
  outcome.workload = "drops_against_drops";
  outcome.settings.operations = 100;
  EXPECT_FALSE(says(text_of(outcome), "digest")) << text_of(outcome);
  EXPECT_FALSE(says(text_of(outcome), "checked")) << text_of(outcome);
  EXPECT_FALSE(json_of(outcome).contains("bytes_checked"));
  outcome.digest = 0;
  EXPECT_TRUE(says(text_of(outcome), "digest of the operations 0"));
  EXPECT_TRUE(json_of(outcome).contains("bytes_checked"));
}

TEST(Growth, is_what_exceeds_what_is_allowed) {
  const Resources before{
      .resident_nbytes = 1 << 20, .heap_nbytes = 1000, .mappings = 50, .files = 5, .threads = 1};
  EXPECT_TRUE(growth(before, before).empty());
  Resources after = before;
  after.heap_nbytes += (1 << 20) + 1;
  after.resident_nbytes += (16 << 20) + 1;
  after.mappings += 257;
  ++after.files;
  ++after.threads;
  EXPECT_EQ(growth(before, after).size(), 5u);
}

TEST(Texts, are_read_as_they_are_written) {
  const Mix mix = parse_mix("read=4,shared_slot_steal=2");
  EXPECT_EQ(text_of(mix), "read=4,shared_slot_steal=2");
  EXPECT_EQ(parse_mix(text_of(usual_mix())), usual_mix());
  EXPECT_EQ(parse_faults(text_of(usual_faults)), usual_faults);
  EXPECT_EQ(parse_faults(text_of(FaultRates{})), FaultRates{});
  EXPECT_EQ(text_of(parse_faults("allocation_at=7")), "allocation_at=7");
  for (const char* chance : {"none", "usual", "0.05", "0.123456789", "1e-09", "1"}) {
    EXPECT_EQ(text_of(parse_perturbation(chance)), chance);
    EXPECT_EQ(parse_perturbation(text_of(parse_perturbation(chance))), parse_perturbation(chance));
  }
  for (const char* range : {"1..64M", "100", "3K..1M"}) {
    EXPECT_EQ(text_of(parse_sizes(range)), range);
  }
}

TEST(Texts, a_chance_to_perturb_by_is_that_of_a_delay) {
  for (const double chance : {0.05, 1.0}) {
    const Perturbation made = parse_perturbation(std::to_string(chance));
    EXPECT_NEAR(made.yields + made.pauses + made.sleeps, chance, 1e-9);
    EXPECT_LE(made.yields + made.pauses + made.sleeps, 1);
    EXPECT_LT(made.spurious, 1) << "or a compare-exchange would never succeed";
  }
}

}  // namespace
}  // namespace byre::stress
