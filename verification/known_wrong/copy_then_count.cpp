// SPDX-License-Identifier: BSL-1.0
#include "copy_then_count.hpp"

#include "../scenarios/drops_race_drops.hpp"
#include "../scenarios/writers_race_writers.hpp"

namespace byre::verification {

const Scenario copy_then_count_drops = scenario<DropsRaceDrops<basic_copy_then_count>>({
    .name = "known_wrong.copy_then_count_drops",
    .shows = "The protocol published in 2026 locks what another drop has freed: I2 and promise 1.",
    .expected = Verdict::use_after_free,
});

const Scenario copy_then_count_writes =
    scenario<WritersRaceWriters<basic_copy_then_count_unlocked>>({
        .name = "known_wrong.copy_then_count_writes",
        .shows = "The protocol published in 2026, even without its lock, lets two writers make two "
                 "copies: promise 3, I6.",
        .expected = Verdict::wrong_answer,
    });

}  // namespace byre::verification
