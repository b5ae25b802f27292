// SPDX-License-Identifier: BSL-1.0
#include "count_then_lock.hpp"

#include "../scenarios/drops_race_drops.hpp"
#include "../scenarios/writers_race_writers.hpp"

namespace byre::verification {

const Scenario count_then_lock_drops = scenario<DropsRaceDrops<basic_count_then_lock>>({
    .name = "known_wrong.count_then_lock_drops",
    .shows = "The published protocol of 2023 locks what another drop has freed: I2 and promise 1.",
    .expected = Verdict::use_after_free,
});

const Scenario count_then_lock_writes = scenario<WritersRaceWriters<basic_count_then_lock>>({
    .name = "known_wrong.count_then_lock_writes",
    .shows = "The published protocol of 2023 copies what the last owner writes: promise 1, I4.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
