// SPDX-License-Identifier: BSL-1.0
#include "resizes_race_drops.hpp"

namespace byre::verification {

const Scenario resizes_race_drops = scenario<ResizesRaceDrops<>>({
    .name = "resizes_race_drops",
    .shows = "Who finds itself unique comes after all that the others did, and may resize: "
             "promise 1, I5, I7.",
});

}  // namespace byre::verification
