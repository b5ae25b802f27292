// SPDX-License-Identifier: BSL-1.0
#include "relaxed_loads.hpp"

#include "../scenarios/reads_race_a_steal.hpp"
#include "../scenarios/resizes_race_drops.hpp"

namespace byre::verification {

const Scenario relaxed_uniqueness_writes = scenario<ReadsRaceASteal<RelaxedLoads<Checked>>>({
    .name = "known_wrong.relaxed_uniqueness_writes",
    .shows = "A relaxed load of the count does not order a write after a former owner's reads: I5.",
    .expected = Verdict::data_race,
});

const Scenario relaxed_uniqueness_resizes = scenario<ResizesRaceDrops<RelaxedLoads<Checked>>>({
    .name = "known_wrong.relaxed_uniqueness_resizes",
    .shows = "Nor a change of size: I5.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
