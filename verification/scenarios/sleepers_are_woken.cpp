// SPDX-License-Identifier: BSL-1.0
#include "sleepers_are_woken.hpp"

namespace byre::verification {

const Scenario sleepers_are_woken = scenario<SleepersAreWoken<1>>({
    .name = "sleepers_are_woken",
    .shows = "A change before a wake is seen by the check, or wakes the sleeper: what parking "
             "promises to I2 and I3.",
});

const Scenario two_sleepers_are_woken = scenario<SleepersAreWoken<2>>({
    .name = "two_sleepers_are_woken",
    .shows = "One wake is for all who sleep at the address.",
    .quick = reduced_search,
});

}  // namespace byre::verification
