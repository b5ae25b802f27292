// SPDX-License-Identifier: BSL-1.0
#include "drops_end_first.hpp"

namespace byre::verification {

namespace {

const Scenario* const drops_end_first_listed[] = {
    scenario<DropsEndFirst<>>("drops_end_first",
                              "A drop ends beside a copy that does not end before it: promise 4."),
};

}  // namespace

}  // namespace byre::verification
