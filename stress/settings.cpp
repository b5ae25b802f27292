// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "parsing.hpp"

namespace byre::stress {
namespace {

constexpr double most_spurious = 0.5;

/// Of a delay, per window.
double chance_in(const Perturbation& perturbation) noexcept {
  return perturbation.yields + perturbation.pauses + perturbation.sleeps;
}

/// Rounded: the sum of some chances is then the chance they were made of.
double in_billionths(double chance) noexcept {
  return std::round(chance * 1e9) / 1e9;
}

Perturbation with_chance(double chance) noexcept {
  // The sum of the scaled chances must not exceed 1.
  const double scale = chance / chance_in(usual_perturbation) * (1 - 1e-12);
  Perturbation perturbation = usual_perturbation;
  for (double* kind : {&perturbation.yields, &perturbation.pauses, &perturbation.sleeps}) {
    *kind *= scale;
  }
  // A compare-exchange that never succeeded would hang.
  perturbation.spurious = std::min(perturbation.spurious * scale, most_spurious);
  return perturbation;
}

}  // namespace

std::string_view name_of(Protocol protocol) noexcept {
  return protocol == Protocol::word ? "word" : "lock";
}

Protocol parse_protocol(std::string_view text) {
  for (const Protocol protocol : {Protocol::word, Protocol::lock}) {
    if (text == name_of(protocol)) {
      return protocol;
    }
  }
  throw std::invalid_argument("the forms are word and lock, not '" + std::string(text) + "'");
}

Perturbation parse_perturbation(std::string_view text) {
  if (text == "none") {
    return no_perturbation;
  }
  if (text == "usual") {
    return usual_perturbation;
  }
  const double chance = parse_number<double>(text).value_or(0);
  if (!(in_billionths(chance) > 0 && chance <= 1)) {
    throw std::invalid_argument(
        "it is none, usual, or a chance above 0, a billionth at least, and up to 1, not '" +
        std::string(text) + "'");
  }
  return with_chance(in_billionths(chance));
}

std::string text_of(const Perturbation& perturbation) {
  if (perturbation == no_perturbation || perturbation == usual_perturbation) {
    return perturbation == no_perturbation ? "none" : "usual";
  }
  return shortest_text(in_billionths(chance_in(perturbation)));
}

std::size_t slots_of_each(const Settings& settings) noexcept {
  return std::max<std::size_t>(2, settings.storages / settings.threads);
}

std::string command_of(const std::string& workload, const Settings& settings) {
  const Settings usual;
  std::ostringstream command;
  command << "byre-stress --workload " << workload << " --seed " << settings.seed << " --threads "
          << settings.threads << " --sizes " << text_of(settings.sizes);
  if (settings.storages != usual.storages) {
    command << " --storages " << settings.storages;
  }
  if (settings.mix != usual.mix) {
    command << " --mix " << text_of(settings.mix);
  }
  if (settings.perturbation != no_perturbation) {
    command << " --perturb " << text_of(settings.perturbation);
  }
  if (settings.protocol != usual.protocol) {
    command << " --protocol " << name_of(settings.protocol);
  }
  if (settings.faults.any() || workload == "faults") {  // which has some of its own
    command << " --faults " << text_of(settings.faults);
  }
  if (settings.operations) {
    command << " --operations " << *settings.operations;
  } else {
    command << std::fixed << std::setprecision(0) << " --duration " << settings.duration.count();
  }
  return command.str();
}

}  // namespace byre::stress
