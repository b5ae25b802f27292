// SPDX-License-Identifier: BSL-1.0
/// The textbook form of the sharing protocol, as the design note "Copy-on-write storage" describes
/// it: a count and a shared-exclusive lock. A writer first takes the lock shared. If the writer is
/// not the last owner, it gives up its ownership, and holds the lock until its copy ends. If it is
/// the last owner, it releases the lock and takes it exclusively, which waits for all copiers. If
/// it is then still the last owner, it steals.
///
/// The count has two parts. `owners_` decides whether a claim steals. `users_` counts owners and
/// copiers: the data and the lock are freed when the last user has released the lock.
///
///   operation     owners  users  lock
///   add_owner     +1      +1
///   drop_owner    -1      -1                                 the last user frees
///   claim         -1             shared, held                copy
///                                exclusive, then released    steal, if still the last owner
///   finish_copy           -1     shared, released            the last user frees
///   abandon_copy  +1             shared, released            an owner again
#pragma once

#include <byre/cow/share_word.hpp>

#include "../step_of.hpp"

namespace byre::verification {

/// Has the operations of basic_share_word, with equal meaning, for data that may be written.
/// add_owner() and drop_owner() never wait. claim() may block on the lock. After a steal,
/// is_unique() may return false until the former owners have decremented `users_`.
template <class Sync>
class basic_share_lock {
 public:
  basic_share_lock() noexcept : owners_(1), users_(1) {}

  void add_owner() noexcept {
    users_.fetch_add(1, step_of<"share_lock.add_user">(relaxed));
    owners_.fetch_add(1, step_of<"share_lock.add_owner">(relaxed));
  }

  [[nodiscard]] bool drop_owner() noexcept {
    // Release pairs with last_owner: reads before this step happen before the writes of an owner
    // that steals.
    owners_.fetch_sub(1, step_of<"share_lock.drop_owner">(release));
    return drop_user();
  }

  bool is_unique() const noexcept {
    // Acquire pairs with drop_user: all that other users did happens before the return of true.
    return users_.load(step_of<"share_lock.is_unique">(acquire)) == 1;
  }

  std::uint32_t use_count() const noexcept {
    return owners_.load(step_of<"share_lock.use_count">(relaxed));
  }

  Claim claim(Wait wait = Wait::allowed) noexcept {
    for (;;) {
      mutex_.lock_shared(step_of<"share_lock.lock_copy">());
      if (give_up_ownership(wait == Wait::never && !is_unique() ? 1 : 2)) {
        return Claim::copy;  // the shared lock is held until the copy ends
      }
      mutex_.unlock_shared(step_of<"share_lock.unlock_claim">());
      if (pending_copies_ended()) {
        return Claim::steal;
      }
    }
  }

  [[nodiscard]] bool finish_copy() noexcept {
    mutex_.unlock_shared(step_of<"share_lock.unlock_finish">());
    return drop_user();
  }

  void abandon_copy() noexcept {
    // Relaxed: the lock orders this step with last_owner. If this step came after the unlock,
    // another owner could steal: known_wrong.undoes_after_unlock.
    owners_.fetch_add(1, step_of<"share_lock.abandon_copy">(relaxed));
    mutex_.unlock_shared(step_of<"share_lock.unlock_abandon">());
  }

 private:
  /// Requires the shared lock. Returns false if there are fewer than `at_least` owners.
  bool give_up_ownership(std::uint32_t at_least) noexcept {
    // Both steps are relaxed: the lock orders the copy with a steal.
    std::uint32_t now = owners_.load(step_of<"share_lock.count_owners">(relaxed));
    while (now >= at_least) {
      if (owners_.compare_exchange_weak(now, now - 1, step_of<"share_lock.claim_copy">(relaxed))) {
        return true;
      }
    }
    return false;
  }

  /// Waits for all copies that are in progress. Returns true if the caller is the last owner
  /// afterwards.
  bool pending_copies_ended() noexcept {
    mutex_.lock(step_of<"share_lock.lock_steal">());
    // Acquire pairs with drop_owner: the reads of owners that only dropped happen before a steal.
    const std::uint32_t now = owners_.load(step_of<"share_lock.last_owner">(acquire));
    mutex_.unlock(step_of<"share_lock.unlock_steal">());
    return now == 1;
  }

  bool drop_user() noexcept {
    // Release and acquire pair with each other, and release with is_unique: the last user frees the
    // data after all uses by other users.
    return users_.fetch_sub(1, step_of<"share_lock.drop_user">(acq_rel)) == 1;
  }

  typename Sync::template Atomic<std::uint32_t> owners_;
  typename Sync::template Atomic<std::uint32_t> users_;
  typename Sync::SharedMutex mutex_;
};

}  // namespace byre::verification
