// SPDX-License-Identifier: BSL-1.0
#include "reads_race_a_steal.hpp"

namespace byre::verification {

namespace {

const Scenario* const reads_race_a_steal_listed[] = {
    scenario<ReadsRaceASteal<>>(
        "reads_race_a_steal",
        "A stealer writes only after every read by a former owner: promises 1 and 6, I5."),
};

}  // namespace

}  // namespace byre::verification
