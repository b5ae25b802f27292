// SPDX-License-Identifier: BSL-1.0
#include "detection.hpp"
#include "support/sanitized.hpp"

#include <algorithm>
#include <stdexcept>

namespace byre::stress::seeded_bugs {
namespace {

/// Many times a round, even on a slow and busy machine.
constexpr std::chrono::seconds hang_timeout{test::is_sanitized ? 20 : 3};

Report expected_report(const Bug& bug) {
  return test::is_thread_sanitized    ? bug.by_thread_sanitizer
         : test::is_address_sanitized ? bug.by_address_sanitizer
                                      : Report::none;
}

bool says(const Finding& finding, std::string_view words) {
  return finding.verdict == Verdict::sanitizer_report &&
         finding.text.find(words) != std::string::npos;
}

/// Whether the sanitizer said what it should.
bool is_reported(const Finding& finding, Report report) {
  switch (report) {
    case Report::none:
      return false;
    case Report::data_race:
      return says(finding, "data race");
    case Report::use_after_free:
      return says(finding, "heap-use-after-free") ||
             (test::is_thread_sanitized &&
              (says(finding, "data race") || says(finding, "invalid mutex")));
    case Report::leak:
      return says(finding, "leaked");
  }
  return false;
}

}  // namespace

bool Detection::is_as_expected() const {
  if constexpr (test::is_sanitized) {
    return is_left_out() || is_reported(perturbed.back(), expected_report(*bug));
  }
  return !bug->shows_itself || std::none_of(perturbed.begin(), perturbed.end(), [](auto& finding) {
    return finding.verdict == Verdict::not_found;
  });
}

std::optional<std::uint64_t> median_rounds(const std::vector<Finding>& findings) {
  std::vector<std::uint64_t> rounds;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::not_found) {
      rounds.push_back(finding.rounds);
    }
  }
  std::sort(rounds.begin(), rounds.end());
  // A run that did not find it would have taken longer.
  const std::size_t middle = findings.size() / 2;
  return middle < rounds.size() ? std::optional(rounds[middle]) : std::nullopt;
}

std::uint64_t sooner_if_perturbed(const std::vector<Detection>& detections) {
  return static_cast<std::uint64_t>(
      std::count_if(detections.begin(), detections.end(), [](const Detection& detection) {
        const auto unperturbed = median_rounds(detection.unperturbed);
        const auto perturbed = median_rounds(detection.perturbed);
        return !detection.unperturbed.empty() && perturbed &&
               (!unperturbed || *perturbed < *unperturbed);
      }));
}

bool perturbation_helps(const std::vector<Detection>& detections) {
  return test::is_sanitized || detections.size() < all_bugs().size() ||
         sooner_if_perturbed(detections) >= least_sooner_if_perturbed;
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
    throw std::invalid_argument("there is no seeded bug '" + name + "'; there are " + names);
  }
  return chosen;
}

Detection detect(const Bug& bug, const DetectionSettings& settings) {
  Detection result{&bug, {}, {}};
  const Report report = expected_report(bug);
  if (test::is_sanitized && report == Report::none) {
    return result;
  }
  const auto run = [&](bool perturbed, unsigned number) {
    // What is not perturbed is compared with what is.
    const bool has_to_be_found = perturbed && (bug.shows_itself || test::is_sanitized);
    const RaceSettings race{
        .seed = settings.seed + number,
        .threads = settings.threads,
        .rounds =
            has_to_be_found ? settings.rounds : std::max(settings.rounds / 4, std::uint64_t{1}),
        .perturbation = perturbed ? usual_perturbation : no_perturbation,
    };
    return run_in_child(perturbed ? bug.run_perturbed : bug.run, race, hang_timeout);
  };
  for (unsigned number = 0; number < settings.seeds; ++number) {
    if constexpr (!test::is_sanitized) {
      result.unperturbed.push_back(run(false, number));
    }
    result.perturbed.push_back(run(true, number));
    if (test::is_sanitized && is_reported(result.perturbed.back(), report)) {
      break;
    }
  }
  return result;
}

}  // namespace byre::stress::seeded_bugs
