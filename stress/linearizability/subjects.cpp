// SPDX-License-Identifier: BSL-1.0
#include "../perturbed/perturbed.hpp"
#include "histories.hpp"
#include "owners_trial.hpp"
#include "place_trial.hpp"
#include "slot_layouts.hpp"

namespace byre::stress {
namespace {

using namespace histories;

template <class Sync>
using Tiny = WithLayout<Sync, tiny_layout>;
template <class Sync>
using Narrow = WithLayout<Sync, narrow_layout>;

template <class Sync>
constexpr Subject place_subjects[] = {
    {"AtomicBuffer", &make_trial<PlaceTrial<basic_buffer<Sync>>>},
    {"AtomicBuffer, tiny layout", &make_trial<PlaceTrial<basic_buffer<Tiny<Sync>>>>},
    {"AtomicBuffer, narrow layout", &make_trial<PlaceTrial<basic_buffer<Narrow<Sync>>>>},
    {"AtomicStorage, tiny layout", &make_trial<PlaceTrial<basic_storage<Tiny<Sync>>>>},
};
template <class Sync>
constexpr Subject buffer_subjects[] = {
    {"Buffer", &make_trial<OwnersTrial<basic_buffer<Sync>>>},
};
template <class Sync>
constexpr Subject storage_subjects[] = {
    {"Storage", &make_trial<OwnersTrial<basic_storage<Sync>>>},
};

template <const auto& shipped, const auto& perturbed>
RaceResult run_either(const RaceSettings& settings) {
  return settings.perturbation == no_perturbation ? run_histories(settings, shipped)
                                                  : run_histories(settings, perturbed);
}

constexpr Race races_of_histories[] = {
    {"atomic_histories", "operations on an AtomicBuffer or AtomicStorage are linearizable",
     &run_either<place_subjects<sync::Default>, place_subjects<Perturbed>>},
    {"buffer_histories", "operations on buffers that share data are linearizable",
     &run_either<buffer_subjects<sync::Default>, buffer_subjects<Perturbed>>},
    {"storage_histories", "operations on storages that share data are linearizable",
     &run_either<storage_subjects<sync::Default>, storage_subjects<Perturbed>>},
};

}  // namespace

std::span<const Race> all_histories() {
  return races_of_histories;
}

}  // namespace byre::stress
