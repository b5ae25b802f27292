// SPDX-License-Identifier: BSL-1.0
#include <nlohmann/json.hpp>

#include <algorithm>

#include "detection.hpp"
#include "support/sanitized.hpp"

namespace byre::stress::seeded_bugs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 29;
constexpr std::size_t rounds_width = 12;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string text_of_rounds(const std::vector<Finding>& findings) {
  if (findings.empty()) {
    return "";
  }
  const auto median = median_rounds(findings);
  return median ? std::to_string(*median) : "-";
}

/// A run that found the bug, if there is one.
const Finding& run_that_found(const Detection& detection) {
  const auto found = [](const Finding& finding) { return finding.verdict != Verdict::not_found; };
  for (const auto* findings : {&detection.perturbed, &detection.unperturbed}) {
    if (const auto at = std::find_if(findings->rbegin(), findings->rend(), found);
        at != findings->rend()) {
      return *at;
    }
  }
  return detection.perturbed.back();
}

std::string found_by(const Detection& detection) {
  if (detection.is_left_out()) {
    return "not seen by this sanitizer: not run";
  }
  const Finding& finding = run_that_found(detection);
  if (!test::is_sanitized && finding.verdict == Verdict::not_found &&
      !detection.bug->shows_itself) {
    return "not found, as expected: a weaker order shows in no result here. "
           "ThreadSanitizer detects it";
  }
  return std::string(name_of(finding.verdict)) + (finding.text.empty() ? "" : ": " + finding.text);
}

Json json_of(const std::vector<Finding>& findings) {
  Json runs = Json::array();
  for (const Finding& finding : findings) {
    runs.push_back({{"verdict", name_of(finding.verdict)},
                    {"rounds", finding.rounds},
                    {"text", finding.text}});
  }
  const auto median = median_rounds(findings);
  return {{"median_rounds", median ? Json(*median) : Json(nullptr)}, {"runs", runs}};
}

std::string_view name_of(Report report) {
  switch (report) {
    case Report::none:
      return "none";
    case Report::data_race:
      return "data race";
    case Report::use_after_free:
      return "use after free";
    case Report::leak:
      return "leak";
  }
  return "";
}

}  // namespace

std::string head_of_table(const DetectionSettings& settings) {
  std::string text = "Rounds until a seeded bug was found: the median of " +
                     std::to_string(settings.seeds) + " seeds, at most " +
                     std::to_string(settings.rounds) +
                     " where it has to be found, a quarter of that where not (-: not found), " +
                     std::to_string(settings.threads) + " threads, from seed " +
                     std::to_string(settings.seed) + " on\n\n";
  return text + padded("seeded bug", name_width) + padded("unperturbed", rounds_width) +
         padded("perturbed", rounds_width) + "found by\n";
}

std::string row_of(const Detection& detection) {
  return padded(std::string(detection.bug->name), name_width) +
         padded(text_of_rounds(detection.unperturbed), rounds_width) +
         padded(text_of_rounds(detection.perturbed), rounds_width) + found_by(detection) +
         (detection.is_as_expected() ? "" : "  FAILED: it has to be found") + '\n';
}

std::string foot_of_table(const std::vector<Detection>& detections) {
  const auto missed =
      std::count_if(detections.begin(), detections.end(),
                    [](const Detection& detection) { return !detection.is_as_expected(); });
  std::string text = "\n" + std::to_string(detections.size()) + " seeded bugs, " +
                     std::to_string(missed) + " missed";
  if constexpr (test::is_sanitized) {
    const auto left_out =
        std::count_if(detections.begin(), detections.end(),
                      [](const Detection& detection) { return detection.is_left_out(); });
    text += ", " + std::to_string(left_out) + " not seen by this sanitizer";
  } else {
    text += "; " + std::to_string(sooner_if_perturbed(detections)) +
            " found in fewer rounds with perturbation";
  }
  if (!perturbation_helps(detections)) {
    text += "; FAILED: there have to be " + std::to_string(least_sooner_if_perturbed) + " at least";
  }
  return text + ".\n";
}

nlohmann::ordered_json json_of(const DetectionSettings& settings,
                               const std::vector<Detection>& detections) {
  Json rows = Json::array();
  for (const Detection& detection : detections) {
    rows.push_back({
        {"name", detection.bug->name},
        {"is_wrong_in", detection.bug->is_wrong_in},
        {"race", detection.bug->race},
        {"shows_itself", detection.bug->shows_itself},
        {"thread_sanitizer", name_of(detection.bug->by_thread_sanitizer)},
        {"address_sanitizer", name_of(detection.bug->by_address_sanitizer)},
        {"unperturbed", json_of(detection.unperturbed)},
        {"perturbed", json_of(detection.perturbed)},
        {"run", !detection.is_left_out()},
        {"as_expected", detection.is_as_expected()},
    });
  }
  return {{"seed", settings.seed},
          {"seeds", settings.seeds},
          {"most_rounds", settings.rounds},
          {"threads", settings.threads},
          {"sanitizer", test::is_thread_sanitized    ? Json("thread")
                        : test::is_address_sanitized ? Json("address")
                                                     : Json(nullptr)},
          {"sooner_if_perturbed", sooner_if_perturbed(detections)},
          {"perturbation_helps", perturbation_helps(detections)},
          {"bugs", rows}};
}

}  // namespace byre::stress::seeded_bugs
