// SPDX-License-Identifier: BSL-1.0
#include "run_story.hpp"

#include <stdexcept>
#include <string>

namespace byre::stress::races {
namespace {

void expect_count(Stage& stage, std::int64_t counted, std::uint64_t seen, const char* what) {
  stage.expect_equal(static_cast<std::uint64_t>(counted), seen, what);
}

}  // namespace

void check_settings(const RaceSettings& settings) {
  if (settings.threads < RaceSettings::least_threads ||
      settings.threads > RaceSettings::most_threads) {
    throw std::invalid_argument("a race takes from 2 to 64 threads, not " +
                                std::to_string(settings.threads));
  }
  if (settings.nbytes == 0) {
    throw std::invalid_argument("a race takes buffers of at least 1 byte");
  }
}

void check_counters(Stage& stage, const stats::Counters& since) {
  if (BYRE_STATS == 0 || !stage.tells_of_copies) {
    return;
  }
  const Deeds seen = stage.tally();
  expect_count(stage, since.lazy_clones, seen.clones, "lazy clones counted");
  expect_count(stage, since.copies, seen.copied, "copies counted");
  expect_count(stage, since.steals, seen.stole, "steals counted");
  expect_count(stage, since.bytes_copied, seen.copied * stage.nbytes, "bytes counted as copied");
}

void check_memory(Stage& stage) {
  const Quarantine::Findings findings = stage.memory.end_round();
  stage.expect_equal(findings.released_twice, 0, "blocks released twice");
  stage.expect_equal(findings.used_after_release, 0, "blocks used after their release");
}

}  // namespace byre::stress::races
