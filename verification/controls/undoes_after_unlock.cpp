// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/failing_copies.hpp"

namespace byre::verification {
/// The textbook form, wrong: who failed to copy gives up its claim, and then counts itself an owner
/// again. In between another owner finds itself the last, and steals.
template <sync::Sync Sync>
class UndoesAfterUnlock : public basic_share_lock<Sync> {
 public:
  using basic_share_lock<Sync>::basic_share_lock;

  void abandon_copy() noexcept {
    static_cast<void>(this->finish_copy());
    this->add_owner();
  }
};

extern const Scenario undoes_after_unlock;
const Scenario undoes_after_unlock = scenario<FailingCopies<UndoesAfterUnlock>>({
    .name = "control.undoes_after_unlock",
    .shows = "A claim given up before its undo lets another owner write what is still owned: "
             "promise 5.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
