// SPDX-License-Identifier: BSL-1.0
#include "drops_end_first.hpp"

namespace byre::verification {

const Scenario drops_end_first = scenario<DropsEndFirst<>>({
    .name = "drops_end_first",
    .shows = "A drop ends beside a copy that does not end before it: promise 4.",
});

}  // namespace byre::verification
