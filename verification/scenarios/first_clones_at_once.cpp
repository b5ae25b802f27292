// SPDX-License-Identifier: BSL-1.0
#include "first_clones_at_once.hpp"

namespace byre::verification {

extern const Scenario first_clones_at_once;
const Scenario first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word>>({
    .name = "first_clones_at_once",
    .shows = "Two threads may lazily clone one buffer, from its very first clone on: promises 2 "
             "and 7.",
});

extern const Scenario three_first_clones_at_once;
const Scenario three_first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_word, 3>>({
    .name = "three_first_clones_at_once",
    .shows = "The same of three threads.",
    .quick = switches(4),
    .deep = switches(7),
});

extern const Scenario locked_first_clones_at_once;
const Scenario locked_first_clones_at_once = scenario<FirstClonesAtOnce<basic_share_lock>>({
    .name = "locked_first_clones_at_once",
    .shows = "The same of the textbook form.",
});

extern const Scenario locked_three_first_clones_at_once;
const Scenario locked_three_first_clones_at_once =
    scenario<FirstClonesAtOnce<basic_share_lock, 3>>({
        .name = "locked_three_first_clones_at_once",
        .shows = "The same of three threads.",
        .quick = switches(3),
        .deep = switches(5),
    });

}  // namespace byre::verification
