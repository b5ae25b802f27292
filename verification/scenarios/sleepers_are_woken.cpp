// SPDX-License-Identifier: BSL-1.0
#include "sleepers_are_woken.hpp"

namespace byre::verification {

namespace {

const Scenario* const sleepers_are_woken_listed[] = {
    scenario<SleepersAreWoken<1>>("sleepers_are_woken",
                                  "A change before a wake is seen by the check, or wakes the "
                                  "sleeper: what parking promises to I2 and I3."),
    scenario<SleepersAreWoken<2>>("two_sleepers_are_woken",
                                  "One wake is for all who sleep at the address.", reduced_search),
};

}  // namespace

}  // namespace byre::verification
