// SPDX-License-Identifier: BSL-1.0
#include <nlohmann/json.hpp>

#include <algorithm>

#include "../races/sanitized.hpp"
#include "hunt.hpp"

namespace byre::stress::planted {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 29;
constexpr std::size_t rounds_width = 12;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string text_of_rounds(const std::vector<Ending>& endings) {
  if (endings.empty()) {
    return "";
  }
  const auto median = median_rounds(endings);
  return median ? std::to_string(*median) : "-";
}

/// An ending that says what the bug does, if there is one. Of what was run.
const Ending& telling(const Catch& one) {
  const auto found = [](const Ending& ending) { return ending.ended != Ended::in_peace; };
  for (const auto* endings : {&one.perturbed, &one.alone}) {
    if (const auto at = std::find_if(endings->rbegin(), endings->rend(), found);
        at != endings->rend()) {
      return *at;
    }
  }
  return one.perturbed.back();
}

std::string found_by(const Catch& one) {
  if (one.is_left_out()) {
    return "not seen by this sanitizer: not run";
  }
  const Ending& ending = telling(one);
  if (!is_sanitized && ending.ended == Ended::in_peace && !one.bug->shows_itself) {
    return "not found, as expected: a weaker order shows in no result here. ThreadSanitizer sees "
           "it";
  }
  return std::string(name_of(ending.ended)) + (ending.text.empty() ? "" : ": " + ending.text);
}

Json json_of(const std::vector<Ending>& endings) {
  Json runs = Json::array();
  for (const Ending& ending : endings) {
    runs.push_back(
        {{"ended", name_of(ending.ended)}, {"rounds", ending.rounds}, {"text", ending.text}});
  }
  const auto median = median_rounds(endings);
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

std::string head_of_table(const HuntSettings& settings) {
  std::string text = "Rounds until a planted bug was found: the median of " +
                     std::to_string(settings.seeds) + " seeds, at most " +
                     std::to_string(settings.rounds) + " (-: not found), " +
                     std::to_string(settings.threads) + " threads, from seed " +
                     std::to_string(settings.seed) + " on\n\n";
  return text + padded("planted bug", name_width) + padded("alone", rounds_width) +
         padded("perturbed", rounds_width) + "found by\n";
}

std::string row_of(const Catch& one) {
  return padded(std::string(one.bug->name), name_width) +
         padded(text_of_rounds(one.alone), rounds_width) +
         padded(text_of_rounds(one.perturbed), rounds_width) + found_by(one) +
         (one.is_as_expected() ? "" : "  FAILED: it is to be found") + '\n';
}

std::string foot_of_table(const std::vector<Catch>& catches) {
  const auto missed = std::count_if(catches.begin(), catches.end(),
                                    [](const Catch& one) { return !one.is_as_expected(); });
  std::string text = "\n" + std::to_string(catches.size()) + " planted bugs, " +
                     std::to_string(missed) + " missed";
  if constexpr (is_sanitized) {
    const auto left_out = std::count_if(catches.begin(), catches.end(),
                                        [](const Catch& one) { return one.is_left_out(); });
    text += ", " + std::to_string(left_out) + " not seen by this sanitizer";
  } else {
    text += "; " + std::to_string(sooner_if_perturbed(catches)) +
            " found in fewer rounds with perturbation";
  }
  if (!perturbation_helps(catches)) {
    text += "; FAILED: it is to be " + std::to_string(least_sooner_if_perturbed) + " at least";
  }
  return text + ".\n";
}

nlohmann::ordered_json json_of(const HuntSettings& settings, const std::vector<Catch>& catches) {
  Json bugs = Json::array();
  for (const Catch& one : catches) {
    bugs.push_back({
        {"name", one.bug->name},
        {"is_wrong_in", one.bug->is_wrong_in},
        {"race", one.bug->race},
        {"shows_itself", one.bug->shows_itself},
        {"thread_sanitizer", name_of(one.bug->by_thread_sanitizer)},
        {"address_sanitizer", name_of(one.bug->by_address_sanitizer)},
        {"alone", json_of(one.alone)},
        {"perturbed", json_of(one.perturbed)},
        {"run", !one.is_left_out()},
        {"as_expected", one.is_as_expected()},
    });
  }
  return {{"seed", settings.seed},
          {"seeds", settings.seeds},
          {"most_rounds", settings.rounds},
          {"threads", settings.threads},
          {"sanitizer", is_thread_sanitized    ? Json("thread")
                        : is_address_sanitized ? Json("address")
                                               : Json(nullptr)},
          {"sooner_if_perturbed", sooner_if_perturbed(catches)},
          {"perturbation_helps", perturbation_helps(catches)},
          {"bugs", bugs}};
}

}  // namespace byre::stress::planted
