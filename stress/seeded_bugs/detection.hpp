// SPDX-License-Identifier: BSL-1.0
/// Detection runs: whether a seeded bug is found, with perturbed schedules and without, by several seeds;
/// after how many rounds, and by what.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bug.hpp"
#include "bug_run.hpp"

namespace byre::stress::seeded_bugs {

struct DetectionSettings {
  std::uint64_t seed = 1;  ///< of the first run; each further one takes the next
  unsigned seeds = 5;
  std::uint64_t rounds = 20'000;  ///< at most
  unsigned threads = 3;           ///< as in RaceSettings
};

/// All runs of one bug.
struct Detection {
  const Bug* bug;
  std::vector<Finding> unperturbed;  ///< one per seed; none under a sanitizer
  std::vector<Finding> perturbed;    ///< under a sanitizer, up to the first report that is expected

  /// Not run: the sanitizer of this build cannot see the bug.
  bool is_left_out() const noexcept { return perturbed.empty(); }

  /// Found by all that can: with perturbation by the races' own checks with every seed, or by the sanitizer
  /// of this build.
  bool is_as_expected() const;
};

/// The median of the rounds until it was found; none if at most half of the seeds found it.
std::optional<std::uint64_t> median_rounds(const std::vector<Finding>& findings);

/// How many bugs took fewer rounds with perturbation.
std::uint64_t sooner_if_perturbed(const std::vector<Detection>& detections);

/// How many of all bugs have to. The others are found in the first rounds anyhow, or show in no result.
inline constexpr std::uint64_t least_sooner_if_perturbed = 10;

/// Whether enough bugs took fewer rounds with perturbation. True where that is not judged: of some bugs
/// only, or under a sanitizer.
bool perturbation_helps(const std::vector<Detection>& detections);

/// The bug of this name, or "all". Throws std::invalid_argument if there is none.
std::vector<const Bug*> bugs_named(const std::string& name);

/// Throws as run_in_child.
Detection detect(const Bug& bug, const DetectionSettings& settings);

/// A table, row by row.
std::string head_of_table(const DetectionSettings& settings);
std::string row_of(const Detection& detection);
std::string foot_of_table(const std::vector<Detection>& detections);

nlohmann::ordered_json json_of(const DetectionSettings& settings,
                               const std::vector<Detection>& detections);

}  // namespace byre::stress::seeded_bugs
