// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"

#include <iomanip>
#include <sstream>

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

Perturbation perturbation_with(double chance) noexcept {
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
