// SPDX-License-Identifier: BSL-1.0
#include "resizes_race_drops.hpp"

namespace byre::verification {

extern const Scenario resizes_race_drops;
const Scenario resizes_race_drops = scenario<ResizesRaceDrops<basic_share_word>>({
    .name = "resizes_race_drops",
    .shows = "Who is told to be unique is done with all that the others did, and may resize: "
             "promise 1, I5, I7.",
});

extern const Scenario locked_resizes_race_drops;
const Scenario locked_resizes_race_drops = scenario<ResizesRaceDrops<basic_share_lock>>({
    .name = "locked_resizes_race_drops",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
