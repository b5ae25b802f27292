// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"

#include <charconv>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace byre::stress {
namespace {

double chance_in(const Perturbation& perturbation) noexcept {
  return perturbation.yields + perturbation.pauses + perturbation.sleeps + perturbation.spurious;
}

std::string text_of(const Perturbation& perturbation) {
  if (perturbation == usual_perturbation) {
    return "usual";
  }
  std::ostringstream text;
  text << chance_in(perturbation);
  return text.str();
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
  double chance = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, chance);
  if (error != std::errc() || stopped != end || !(chance > 0 && chance <= 1)) {
    throw std::invalid_argument("it is none, usual, or a chance above 0 and up to 1, not '" +
                                std::string(text) + "'");
  }
  const double scale = chance / chance_in(usual_perturbation);
  Perturbation perturbation = usual_perturbation;
  for (double* kind :
       {&perturbation.yields, &perturbation.pauses, &perturbation.sleeps, &perturbation.spurious}) {
    *kind *= scale;
  }
  return perturbation;
}

std::string command_of(const std::string& workload, const Settings& settings) {
  const Settings usual;
  std::ostringstream command;
  command << "byre-stress --workload " << workload << " --seed " << settings.seed << " --threads "
          << settings.threads << " --storages " << settings.storages << " --sizes "
          << text_of(settings.sizes);
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
