// SPDX-License-Identifier: BSL-1.0
/// The scenarios of owners.hpp with other protocols in place of the share word: two or three owners
/// drop, write or fail to copy. The textbook form has to pass: one writing owner steals, a
/// drop never waits, and a failed copy changes nothing. The published protocols have to fail.
#include "published_protocols.hpp"
#include "../scenarios/owners.hpp"

namespace byre::verification {
namespace {

using ShareLock = basic_share_lock<Checked>;

const Scenario* const known_wrong_published[] = {
    known_wrong<OwnersDrop<2, basic_copy_then_count<Checked>>>(
        "known_wrong.copy_then_count_drops",
        "In the protocol published in 2026 a drop locks an object that another drop has freed: I2 "
        "and promise 1.",
        Verdict::use_after_free),
    known_wrong<OwnersWrite<2, basic_copy_then_count_unlocked<Checked>>>(
        "known_wrong.copy_then_count_writes",
        "In the protocol published in 2026, even without its lock, two writers make two copies: "
        "promise 3, I6.",
        Verdict::wrong_answer),
    known_wrong<OwnersDrop<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_drops",
        "In the protocol published in 2023 a drop locks an object that another drop has freed: I2 "
        "and promise 1.",
        Verdict::use_after_free),
    known_wrong<OwnersWrite<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_writes",
        "In the protocol published in 2023 an owner copies data while the last owner writes it: "
        "promise 1, I4.",
        Verdict::data_race),
    known_wrong<OwnersFail<UndoesAfterUnlock<Checked>>>(
        "known_wrong.undoes_after_unlock",
        "If an owner abandons its claim before it counts itself again, another owner writes data "
        "that it still owns: promise 5.",
        Verdict::data_race),
    scenario<OwnersWrite<2, ShareLock>>(
        "reference.owners_write",
        "Two owners of the textbook form write: exactly one steals the data."),
    scenario<ClaimsStealOnce<3, ShareLock>>(
        "reference.claims_steal_once",
        "Three owners of the textbook form claim: exactly one steals.", 3, 6),
    scenario<OwnersDrop<3, ShareLock>>(
        "reference.owners_drop",
        "The last owner of the textbook form frees the data, after all reads."),
    scenario<DropsEndFirst<ShareLock>>(
        "reference.drops_end_first",
        "A drop of the textbook form ends although a pending copy waits for that drop."),
    scenario<OwnersFail<ShareLock>>("reference.owners_fail",
                                    "A failed copy of the textbook form changes nothing."),
};

}  // namespace
}  // namespace byre::verification
