// SPDX-License-Identifier: BSL-1.0
#include "reads_race_a_steal.hpp"

namespace byre::verification {

const Scenario reads_race_a_steal = scenario<ReadsRaceASteal<>>({
    .name = "reads_race_a_steal",
    .shows = "A stealer writes only after every read by a former owner: promises 1 and 6, I5.",
});

}  // namespace byre::verification
