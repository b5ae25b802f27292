// SPDX-License-Identifier: BSL-1.0
#include "first_clones_at_once.hpp"

namespace byre::verification {

const Scenario first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word>>({
    .name = "first_clones_at_once",
    .shows = "Two threads may lazily clone one buffer, from its very first clone on: promises 2 "
             "and 7.",
});

const Scenario three_first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word, 3>>({
    .name = "three_first_clones_at_once",
    .shows = "The same of three threads.",
    .quick = preemptions(4),
    .deep = preemptions(7),
});

const Scenario locked_first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_lock>>({
    .name = "locked_first_clones_at_once",
    .shows = "The same of the textbook form.",
});

const Scenario locked_three_first_clones_at_once =
    scenario<FirstClonesAtOnce<basic_share_lock, 3>>({
        .name = "locked_three_first_clones_at_once",
        .shows = "The same of three threads.",
        .quick = preemptions(3),
        .deep = preemptions(5),
    });

}  // namespace byre::verification
