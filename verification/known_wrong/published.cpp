// SPDX-License-Identifier: BSL-1.0
/// The protocols that were published, and one that undoes a claim too late: see their headers.
#include "published.hpp"
#include "../scenarios/owners.hpp"

namespace byre::verification {
namespace {

const Scenario* const wrong_published_listed[] = {
    wrong<OwnersDrop<2, basic_copy_then_count<Checked>>>(
        "known_wrong.copy_then_count_drops",
        "The protocol published in 2026 locks what another drop has freed: I2 and promise 1.",
        Verdict::use_after_free),
    wrong<OwnersWrite<2, basic_copy_then_count_unlocked<Checked>>>(
        "known_wrong.copy_then_count_writes",
        "The protocol published in 2026, even without its lock, lets two writers make two copies: "
        "promise 3, I6.",
        Verdict::wrong_answer),
    wrong<OwnersDrop<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_drops",
        "The published protocol of 2023 locks what another drop has freed: I2 and promise 1.",
        Verdict::use_after_free),
    wrong<OwnersWrite<2, basic_count_then_lock<Checked>>>(
        "known_wrong.count_then_lock_writes",
        "The published protocol of 2023 copies what the last owner writes: promise 1, I4.",
        Verdict::data_race),
    wrong<OwnersFail<UndoesAfterUnlock<Checked>>>(
        "known_wrong.undoes_after_unlock",
        "A claim given up before its undo lets another owner write what is still owned: promise 5.",
        Verdict::data_race),
};

}  // namespace
}  // namespace byre::verification
