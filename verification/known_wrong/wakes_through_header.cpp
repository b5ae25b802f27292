// SPDX-License-Identifier: BSL-1.0
#include "list_in_header.hpp"

#include "../scenarios/claims_steal_once.hpp"

namespace byre::verification {

const Scenario wakes_through_header =
    scenario<ClaimsStealOnce<2, basic_share_word<ListInHeader<Checked>>>>({
    .name = "known_wrong.wakes_through_header",
    .shows = "A waker that goes through the header touches what the waiter has freed: I2.",
    .expected = Verdict::use_after_free,
});

}  // namespace byre::verification
