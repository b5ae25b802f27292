// SPDX-License-Identifier: BSL-1.0
/// The textbook form does what the share word does: of owners that write one steals, a drop never waits, and a
/// copy that fails changes nothing.
#include "../scenarios/owners.hpp"
#include "share_lock.hpp"

namespace byre::verification {

using ShareLock = basic_share_lock<Checked>;

namespace {

const Scenario* const reference_listed[] = {
    scenario<OwnersWrite<2, ShareLock>>(
        "reference.owners_write", "Two owners of the textbook form write, and one keeps the data."),
    scenario<ClaimsStealOnce<3, ShareLock>>(
        "reference.claims_steal_once", "Three owners of the textbook form claim, and one steals.",
        3, 6),
    scenario<OwnersDrop<3, ShareLock>>(
        "reference.owners_drop",
        "The last owner of the textbook form frees the data, after all reads."),
    scenario<DropsEndFirst<ShareLock>>(
        "reference.drops_end_first",
        "A drop of the textbook form ends beside a copy that does not end before it."),
    scenario<OwnersFail<ShareLock>>("reference.owners_fail",
                                    "A copy of the textbook form that fails changes nothing."),
};

}  // namespace
}  // namespace byre::verification
