// SPDX-License-Identifier: BSL-1.0
#include "failures_elsewhere.hpp"

namespace byre::verification {

const Scenario failing_resizes = scenario<FailingResizes<basic_share_word>>({
    .name = "failing_resizes",
    .shows = "A resize that has to move and cannot changes nothing: promise 5.",
});

const Scenario failing_clones_of_a_loan = scenario<FailingClonesOfALoan<basic_share_word>>({
    .name = "failing_clones_of_a_loan",
    .shows =
        "A clone of borrowed memory that cannot be copied leaves its source as it was: promise "
        "5.",
});

const Scenario locked_failing_resizes = scenario<FailingResizes<basic_share_lock>>({
    .name = "locked_failing_resizes",
    .shows = "The same of the textbook form.",
});

const Scenario locked_failing_clones_of_a_loan = scenario<FailingClonesOfALoan<basic_share_lock>>({
    .name = "locked_failing_clones_of_a_loan",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
