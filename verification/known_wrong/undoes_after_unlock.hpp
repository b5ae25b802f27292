// SPDX-License-Identifier: BSL-1.0
/// The textbook form, wrong: an owner whose copy failed gives up its claim, and then counts itself an owner again.
/// In between another owner finds itself the last, and steals.
#pragma once

#include "../reference/share_lock.hpp"

namespace byre::verification {

/// In the place of basic_share_lock.
template <class Sync>
class UndoesAfterUnlock : public basic_share_lock<Sync> {
 public:
  void abandon_copy() noexcept {
    static_cast<void>(this->finish_copy());
    this->add_owner();
  }
};

}  // namespace byre::verification
