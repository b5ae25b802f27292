// SPDX-License-Identifier: BSL-1.0
/// The protocols that were published, and one that undoes a claim too late: see their headers.
#include "../scenarios/owners.hpp"
#include "copy_then_count.hpp"
#include "count_then_lock.hpp"
#include "undoes_after_unlock.hpp"

namespace byre::verification {

const Scenario copy_then_count_drops = scenario<OwnersDrop<2, basic_copy_then_count<Checked>>>({
    .name = "known_wrong.copy_then_count_drops",
    .shows = "The protocol published in 2026 locks what another drop has freed: I2 and promise 1.",
    .expected = Verdict::use_after_free,
});

const Scenario copy_then_count_writes =
    scenario<OwnersWrite<2, basic_copy_then_count_unlocked<Checked>>>({
        .name = "known_wrong.copy_then_count_writes",
        .shows = "The protocol published in 2026, even without its lock, lets two writers make two "
                 "copies: promise 3, I6.",
        .expected = Verdict::wrong_answer,
    });

const Scenario count_then_lock_drops = scenario<OwnersDrop<2, basic_count_then_lock<Checked>>>({
    .name = "known_wrong.count_then_lock_drops",
    .shows = "The published protocol of 2023 locks what another drop has freed: I2 and promise 1.",
    .expected = Verdict::use_after_free,
});

const Scenario count_then_lock_writes = scenario<OwnersWrite<2, basic_count_then_lock<Checked>>>({
    .name = "known_wrong.count_then_lock_writes",
    .shows = "The published protocol of 2023 copies what the last owner writes: promise 1, I4.",
    .expected = Verdict::data_race,
});

const Scenario undoes_after_unlock = scenario<OwnersFail<UndoesAfterUnlock<Checked>>>({
    .name = "known_wrong.undoes_after_unlock",
    .shows = "A claim given up before its undo lets another owner write what is still owned: "
             "promise 5.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
