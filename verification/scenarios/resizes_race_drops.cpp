// SPDX-License-Identifier: BSL-1.0
#include "resizes_race_drops.hpp"

namespace byre::verification {

namespace {

const Scenario* const resizes_race_drops_listed[] = {
    scenario<ResizesRaceDrops<>>("resizes_race_drops",
                                 "Who finds itself unique comes after all that the others did, and "
                                 "may resize: promise 1, I5, I7."),
};

}  // namespace

}  // namespace byre::verification
