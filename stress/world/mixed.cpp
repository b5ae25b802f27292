// SPDX-License-Identifier: BSL-1.0
#include "mixed.hpp"

#include <byre/cow/detail/share_lock.hpp>
#include <byre/cow/share_word.hpp>

#include "run.hpp"

namespace byre::stress {

namespace {

template <sync::Sync Sync>
Outcome run_over(const std::string& workload, const Settings& settings, Watch& watch) {
  return settings.protocol == Protocol::word
             ? Run<Sync, basic_share_word>(workload, settings, watch).complete()
             : Run<Sync, basic_share_lock>(workload, settings, watch).complete();
}

}  // namespace

Outcome run_mixed(const Settings& settings, Watch& watch) {
  return run_mixed_as("mixed", settings, watch);
}

Outcome run_mixed_as(const std::string& workload, const Settings& settings, Watch& watch) {
  return settings.perturbation == no_perturbation ? run_over<sync::Boost>(workload, settings, watch)
                                                  : run_over<Perturbed>(workload, settings, watch);
}

}  // namespace byre::stress
