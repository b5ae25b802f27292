// SPDX-License-Identifier: BSL-1.0
#include "hunt.hpp"

#include <algorithm>
#include <stdexcept>

#include "../races/sanitized.hpp"

namespace byre::stress::planted {
namespace {

/// Many times a round, on a slow and busy machine too.
constexpr std::chrono::seconds patience{is_sanitized ? 20 : 3};

Report expected_report(const Bug& bug) {
  return is_thread_sanitized    ? bug.by_thread_sanitizer
         : is_address_sanitized ? bug.by_address_sanitizer
                                : Report::none;
}

bool says(const Ending& ending, std::string_view words) {
  return ending.ended == Ended::by_sanitizer && ending.text.find(words) != std::string::npos;
}

/// Whether the sanitizer said what it should.
bool is_reported(const Ending& ending, Report report) {
  switch (report) {
    case Report::none:
      return false;
    case Report::data_race:
      return says(ending, "data race");
    case Report::use_after_free:
      return says(ending, "heap-use-after-free") ||
             (is_thread_sanitized && (says(ending, "data race") || says(ending, "invalid mutex")));
    case Report::leak:
      return says(ending, "leaked");
  }
  return false;
}

}  // namespace

bool Catch::is_as_expected() const {
  if constexpr (is_sanitized) {
    return is_left_out() || is_reported(perturbed.back(), expected_report(*bug));
  }
  return !bug->shows_itself || std::none_of(perturbed.begin(), perturbed.end(), [](auto& ending) {
    return ending.ended == Ended::in_peace;
  });
}

std::optional<std::uint64_t> median_rounds(const std::vector<Ending>& endings) {
  std::vector<std::uint64_t> rounds;
  for (const Ending& ending : endings) {
    if (ending.ended != Ended::in_peace) {
      rounds.push_back(ending.rounds);
    }
  }
  std::sort(rounds.begin(), rounds.end());
  // Where it was not found it would have taken longer.
  const std::size_t middle = endings.size() / 2;
  return middle < rounds.size() ? std::optional(rounds[middle]) : std::nullopt;
}

std::uint64_t sooner_if_perturbed(const std::vector<Catch>& catches) {
  return static_cast<std::uint64_t>(
      std::count_if(catches.begin(), catches.end(), [](const Catch& one) {
        const auto alone = median_rounds(one.alone);
        const auto perturbed = median_rounds(one.perturbed);
        return !one.alone.empty() && perturbed && (!alone || *perturbed < *alone);
      }));
}

bool perturbation_helps(const std::vector<Catch>& catches) {
  return is_sanitized || catches.size() < all_bugs().size() ||
         sooner_if_perturbed(catches) >= least_sooner_if_perturbed;
}

std::vector<const Bug*> bugs_named(const std::string& name) {
  std::vector<const Bug*> chosen;
  std::string names;
  for (const Bug& bug : all_bugs()) {
    names += (names.empty() ? "" : ", ") + std::string(bug.name);
    if (name == "all" || name == bug.name) {
      chosen.push_back(&bug);
    }
  }
  if (chosen.empty()) {
    throw std::invalid_argument("there is no planted bug '" + name + "'; there are " + names);
  }
  return chosen;
}

Catch hunt(const Bug& bug, const HuntSettings& settings) {
  Catch result{&bug, {}, {}};
  const Report report = expected_report(bug);
  if (is_sanitized && report == Report::none) {
    return result;
  }
  const auto run = [&](bool perturbed, unsigned number) {
    const RaceSettings race{
        .seed = settings.seed + number,
        .threads = settings.threads,
        .rounds = settings.rounds,
        .perturbation = perturbed ? usual_perturbation : no_perturbation,
    };
    return run_in_child(perturbed ? bug.run_perturbed : bug.run, race, patience);
  };
  for (unsigned number = 0; number < settings.seeds; ++number) {
    if constexpr (!is_sanitized) {
      result.alone.push_back(run(false, number));
    }
    result.perturbed.push_back(run(true, number));
    if (is_sanitized && is_reported(result.perturbed.back(), report)) {
      break;
    }
  }
  return result;
}

}  // namespace byre::stress::planted
