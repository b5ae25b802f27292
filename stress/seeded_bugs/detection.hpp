// SPDX-License-Identifier: BSL-1.0
/// The hunt: looks for each planted bug, with perturbed schedules and without, by several seeds,
/// and says after how many rounds it was found, and by what.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bug.hpp"
#include "child.hpp"

namespace byre::stress::planted {

struct HuntSettings {
  std::uint64_t seed = 1;  ///< of the first run; the others have those that follow
  unsigned seeds = 5;
  std::uint64_t rounds = 20'000;  ///< at most
  unsigned threads = 3;           ///< as in RaceSettings
};

/// What became of one bug.
struct Catch {
  const Bug* bug;
  std::vector<Ending> alone;      ///< without perturbation, one a seed; none under a sanitizer
  std::vector<Ending> perturbed;  ///< under a sanitizer, up to the first report it should make

  /// Not run, since the sanitizer this is built with cannot see it.
  bool is_left_out() const noexcept { return perturbed.empty(); }

  /// Found wherever it can be: with perturbation, by the races' own checks with every seed, or by
  /// the sanitizer this is built with.
  bool is_as_expected() const;
};

/// The rounds until it was found: the median, or none if it was not by more than half of the seeds.
std::optional<std::uint64_t> median_rounds(const std::vector<Ending>& endings);

/// Those whose rounds are known to be fewer with perturbation.
std::uint64_t sooner_if_perturbed(const std::vector<Catch>& catches);

/// Of all bugs, so many at least are to be found in fewer rounds with perturbation than without: some
/// are found in the first rounds anyhow, and two show in no result.
inline constexpr std::uint64_t least_sooner_if_perturbed = 10;

/// Whether perturbation is worth it. True where it is not judged: of some bugs only, or under a
/// sanitizer, where they are not run without.
bool perturbation_helps(const std::vector<Catch>& catches);

/// The bug of this name, or all. Throws std::invalid_argument if there is none.
std::vector<const Bug*> bugs_named(const std::string& name);

/// Throws std::invalid_argument, std::system_error.
Catch hunt(const Bug& bug, const HuntSettings& settings);

/// A table, row by row.
std::string head_of_table(const HuntSettings& settings);
std::string row_of(const Catch& one);
std::string foot_of_table(const std::vector<Catch>& catches);

nlohmann::ordered_json json_of(const HuntSettings& settings, const std::vector<Catch>& catches);

}  // namespace byre::stress::planted
