// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <byre/cow/detail/share_lock.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include "run.hpp"

namespace byre::stress {

namespace {

template <sync::Sync Sync>
Outcome run_over(const std::string& name, const Settings& settings, Monitor& monitor) {
  return settings.protocol == Protocol::word
             ? Run<Sync, basic_share_word>(name, settings, monitor).complete()
             : Run<Sync, basic_share_lock>(name, settings, monitor).complete();
}

}  // namespace

Outcome run_mixed(const std::string& name, const Settings& settings, Monitor& monitor) {
  return settings.perturbation == no_perturbation ? run_over<sync::Boost>(name, settings, monitor)
                                                  : run_over<Perturbed>(name, settings, monitor);
}

}  // namespace byre::stress
