// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include "run.hpp"

namespace byre::stress {

Outcome run_mixed(const char* name, const Settings& settings) {
  // Few tiles make a high table where two fan out.
  return settings.perturbation == no_perturbation
             ? Run<programs::Types<sync::Boost, 32>>(name, settings).complete()
             : Run<programs::Types<Perturbed, 2, Undisturbed>>(name, settings).complete();
}

}  // namespace byre::stress
