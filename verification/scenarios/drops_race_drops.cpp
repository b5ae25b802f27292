// SPDX-License-Identifier: BSL-1.0
#include "drops_race_drops.hpp"

namespace byre::verification {

extern const Scenario drops_race_drops;
const Scenario drops_race_drops = scenario<DropsRaceDrops<basic_share_word>>({
    .name = "drops_race_drops",
    .shows = "Adopted memory is deleted once, by whoever lets go last and after all reads: "
             "promises 1, 4 and 8, I1, I2.",
});

extern const Scenario locked_drops_race_drops;
const Scenario locked_drops_race_drops = scenario<DropsRaceDrops<basic_share_lock>>({
    .name = "locked_drops_race_drops",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
