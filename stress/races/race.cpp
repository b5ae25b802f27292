// SPDX-License-Identifier: BSL-1.0
#include "race.hpp"

#include <byre/storage/buffer.hpp>

#include "../perturbed/perturbed.hpp"
#include "scenarios/failing_copies.hpp"
#include "scenarios/families_write_at_once.hpp"
#include "scenarios/pending_copies.hpp"
#include "scenarios/storages.hpp"
#include "scenarios/tiles.hpp"

namespace byre::stress {
namespace {

using namespace races;

/// Without perturbation, the scenarios use the classes of the library; with perturbation, the
/// templates of the library over Perturbed.
template <template <class> class ScenarioOf>
RaceResult run(const RaceSettings& settings) {
  return settings.perturbation == no_perturbation
             ? run_scenario<ScenarioOf<basic_buffer<sync::Default>>>(settings)
             : run_scenario<ScenarioOf<basic_buffer<Perturbed>>>(settings);
}

template <class Buffer>
using FamiliesWriteAtOnceAsShipped = FamiliesWriteAtOnce<Buffer>;

template <template <class> class ScenarioOf>
constexpr Race race(std::string_view name, std::string_view shows) {
  return {name, shows, &run<ScenarioOf>};
}

constexpr Race table[] = {
    race<ConcurrentMaterialize>(
        "concurrent_materialize",
        "N writers of shared data make N-1 copies, and one keeps the original"),
    race<LazyCloneAgainstMaterialize>(
        "lazy_clone_against_materialize",
        "threads clone data and its clones while others write: every write copies"),
    race<StealAgainstPendingCopies>("steal_against_pending_copies",
                                    "the last owner waits for N-1 pending copies, then steals the "
                                    "original"),
    race<NeverWaits>("never_waits",
                     "the last owner must not wait for pending copies, so it copies, too"),
    race<StolenDataIsSharedAgain>("stolen_data_is_shared_again",
                                  "stolen data is shared, copied and dropped like new data"),
    race<DropsAgainstCopies>("drops_against_copies",
                             "drops corrupt no copy; the last owner releases the data once"),
    race<DropsAgainstDrops>("drops_against_drops", "the last of many drops releases the data once"),
    race<FirstClonesAtOnce>("first_clones_at_once",
                            "concurrent first clones of one buffer are all counted"),
    race<FailingCopies>("failing_copies",
                        "an owner whose copy fails owns again; a waiter checks again"),
    race<ReadsAgainstWritesInPlace>(
        "reads_against_writes_in_place",
        "the writes of a unique owner happen after all reads by others"),
    race<LoopsAtOnce>("loops_at_once",
                      "two parallel loops over storages that share data make one copy"),
    race<UnpinsAgainstClones>("unpins_against_clones",
                              "pinned data is never shared while pins are created and released "
                              "and clones are made"),
    race<FamiliesWriteAtOnceAsShipped>("families_write_at_once",
                                       "a write after a write of another view family is reported"),
    race<TilesWrittenAtOnce>("tiles_written_at_once",
                             "N writers of one tile make N-1 copies, and one keeps the original"),
    race<TilesClonedAtOnce>("tiles_cloned_at_once",
                            "writes and drops of the clones of a tiled buffer do not affect it"),
    {"reshapes_of_tensors", "writes through other tensors of a storage are reported, once each",
     &run_reshapes_of_tensors},
    {"views_of_one_alias", "a use of a view under the functionalize pass reads the last write",
     &run_views_of_one_alias},
};

}  // namespace

std::span<const Race> all_races() {
  return table;
}

}  // namespace byre::stress
