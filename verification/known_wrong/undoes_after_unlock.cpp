// SPDX-License-Identifier: BSL-1.0
#include "undoes_after_unlock.hpp"

#include "../scenarios/failing_copies.hpp"

namespace byre::verification {

const Scenario undoes_after_unlock = scenario<FailingCopies<UndoesAfterUnlock>>({
    .name = "known_wrong.undoes_after_unlock",
    .shows = "A claim given up before its undo lets another owner write what is still owned: "
             "promise 5.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
