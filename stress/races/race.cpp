// SPDX-License-Identifier: BSL-1.0
#include "race.hpp"

#include <byre/cow/detail/share_lock.hpp>
#include <byre/storage/buffer.hpp>

#include "run_story.hpp"
#include "stories/all.hpp"

namespace byre::stress {
namespace {

using namespace races;

/// The shipped library where nothing is perturbed, and the same templates where something is.
template <template <class> class Story, template <class> class Share>
RaceResult run(const RaceSettings& settings) {
  return settings.perturbation == no_perturbation
             ? run_story<Story<basic_buffer<sync::Boost, Share>>>(settings)
             : run_story<Story<basic_buffer<Perturbed, Share>>>(settings);
}

template <class Buffer>
using FamiliesWriteAtOnceAsShipped = FamiliesWriteAtOnce<Buffer>;

template <template <class> class Story>
constexpr Race race(std::string_view name, std::string_view shows) {
  return {name, shows, &run<Story, basic_share_word>, &run<Story, basic_share_lock>};
}

constexpr Race table[] = {
    race<ConcurrentMaterialize>("concurrent_materialize",
                                "N writers of shared data make N-1 copies, and one keeps it"),
    race<LazyCloneAgainstMaterialize>(
        "lazy_clone_against_materialize",
        "clones and clones of clones are made of what others write: as many copies as writes"),
    race<StealAgainstPendingCopies>("steal_against_pending_copies",
                                    "a last owner finds copies under way: N-1 copies, and it keeps "
                                    "the original once they ended"),
    race<NeverWaits>("never_waits",
                     "a last owner that must not wait for the copies under way copies too"),
    race<StolenDataIsSharedAgain>("stolen_data_is_shared_again",
                                  "what was stolen is shared, copied and dropped as if new"),
    race<DropsAgainstCopies>("drops_against_copies",
                             "drops spoil no copy; the last to leave releases, once"),
    race<DropsAgainstDrops>("drops_against_drops", "the last of many drops releases, once"),
    race<FirstClonesAtOnce>("first_clones_at_once",
                            "clones of one buffer at once, the first included, are all counted"),
    race<FailingCopies>("failing_copies",
                        "who fails to copy owns as before, and who waited for it looks again"),
    race<ReadsAgainstWritesInPlace>("reads_against_writes_in_place",
                                    "who finds itself alone writes after all that others read"),
    race<FamiliesWriteAtOnceAsShipped>("families_write_at_once",
                                       "a write that follows another view family's is told of it"),
    race<ReshapesOfTensors>("reshapes_of_tensors",
                            "tensors that share a storage are told of each other's writes, once"),
    race<ViewsOfOneAlias>("views_of_one_alias",
                          "who uses a view under the functionalize pass sees the last write"),
};

}  // namespace

std::span<const Race> all_races() {
  return table;
}

}  // namespace byre::stress
