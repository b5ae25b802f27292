// SPDX-License-Identifier: BSL-1.0
#include "list_in_header.hpp"

#include "../scenarios/claims_steal_once.hpp"

namespace byre::verification {
/// The word, over what is wrong.
template <class>
class WakesThroughHeader : public basic_share_word<ListInHeader<Checked>> {
  using basic_share_word::basic_share_word;
};

const Scenario wakes_through_header = scenario<ClaimsStealOnce<WakesThroughHeader, 2>>({
    .name = "known_wrong.wakes_through_header",
    .shows = "A waker that goes through the header touches what the waiter has freed: I2.",
    .expected = Verdict::use_after_free,
});

}  // namespace byre::verification
