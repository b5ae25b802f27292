// SPDX-License-Identifier: BSL-1.0
/// The textbook form does what the share word does: of owners that write one steals, a drop never waits, and a
/// copy that fails changes nothing.
#include "../scenarios/claims_steal_once.hpp"
#include "../scenarios/drops_end_first.hpp"
#include "../scenarios/owners.hpp"
#include "share_lock.hpp"

namespace byre::verification {

using ShareLock = basic_share_lock<Checked>;

const Scenario locked_owners_write = scenario<OwnersWrite<2, ShareLock>>({
    .name = "reference.owners_write",
    .shows = "Two owners of the textbook form write, and one keeps the data.",
});

const Scenario locked_claims_steal_once = scenario<ClaimsStealOnce<3, ShareLock>>({
    .name = "reference.claims_steal_once",
    .shows = "Three owners of the textbook form claim, and one steals.",
    .quick = preemptions(3),
    .deep = preemptions(6),
});

const Scenario locked_owners_drop = scenario<OwnersDrop<3, ShareLock>>({
    .name = "reference.owners_drop",
    .shows = "The last owner of the textbook form frees the data, after all reads.",
});

const Scenario locked_drops_end_first = scenario<DropsEndFirst<ShareLock>>({
    .name = "reference.drops_end_first",
    .shows = "A drop of the textbook form ends beside a copy that does not end before it.",
});

const Scenario locked_owners_fail = scenario<OwnersFail<ShareLock>>({
    .name = "reference.owners_fail",
    .shows = "A copy of the textbook form that fails changes nothing.",
});

}  // namespace byre::verification
