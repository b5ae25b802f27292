// SPDX-License-Identifier: BSL-1.0
/// Protocols in the place of the share word. The textbook form does what the share word does: of owners that write one
/// steals, a drop never waits, and a copy that fails changes nothing. The others were published, and are wrong.
#include "published_protocols.hpp"
#include "../scenarios/owners.hpp"

namespace byre::verification {
namespace {

using ShareLock = basic_share_lock<Checked>;

const Scenario* const known_wrong_published[] = {
    known_wrong<OwnersDrop<2, basic_copy_then_count<Checked>>>(
        "known_wrong.copy_then_count_drops",
        "The protocol published in 2026 locks what another drop has freed: I2 and promise 1.",
        Verdict::use_after_free),
    known_wrong<OwnersWrite<2, basic_copy_then_count_unlocked<Checked>>>(
        "known_wrong.copy_then_count_writes",
        "The protocol published in 2026, even without its lock, lets two writers make two copies: "
        "promise 3, I6.",
        Verdict::wrong_answer),
    known_wrong<OwnersDrop<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_drops",
        "The published protocol of 2023 locks what another drop has freed: I2 and promise 1.",
        Verdict::use_after_free),
    known_wrong<OwnersWrite<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_writes",
        "The published protocol of 2023 copies what the last owner writes: promise 1, I4.",
        Verdict::data_race),
    known_wrong<OwnersFail<UndoesAfterUnlock<Checked>>>(
        "known_wrong.undoes_after_unlock",
        "A claim given up before its undo lets another owner write what is still owned: promise 5.",
        Verdict::data_race),
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
