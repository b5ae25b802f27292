// SPDX-License-Identifier: BSL-1.0
#include "drops_end_first.hpp"

namespace byre::verification {

const Scenario drops_end_first = scenario<DropsEndFirst<basic_share_word>>({
    .name = "drops_end_first",
    .shows = "A drop ends beside a copy that does not end before it: promise 4.",
});

const Scenario locked_drops_end_first =
    textbook_scenario<DropsEndFirst<basic_share_lock>>("locked_drops_end_first");

}  // namespace byre::verification
