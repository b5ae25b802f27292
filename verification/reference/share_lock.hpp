// SPDX-License-Identifier: BSL-1.0
/// The sharing protocol as the seed says it: a count, and a shared-exclusive lock that copies hold
/// shared and a stealer takes exclusively, the shared lock taken before the reference is given up.
///
/// It is the second opinion beside basic_share_word in differential tests and the baseline in the
/// benchmarks. The count is in two parts: `owners_`, of which the last may steal, and `users_`, who
/// are owners or copiers and keep the lock itself alive until they have let go of it.
///
///   operation     owners  users  lock
///   add_owner     +1      +1
///   drop_owner    -1      -1                                 the last user frees
///   claim         -1             shared, kept                copy
///                                exclusive, and let go       steal, if still the last owner
///   finish_copy           -1     shared, let go              the last user frees
///   abandon_copy  +1             shared, let go              an owner again
///
/// Source: the seed "Copy-on-write storage".
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/cow/detail/share_lock_sites.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/observe/counters.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// The operations of basic_share_word, with the same meaning. Progress: counting and dropping never
/// wait; a claim blocks on the lock, and with Wait::never may still do so for a copy's time where
/// another owner, about to steal, waits in the lock's queue.
/// After a steal is_unique() may be false for a moment, until whoever has left is counted out.
template <sync::LockingSync Sync>
class basic_share_lock {
 public:
  explicit basic_share_lock(bool read_only = false) noexcept
      : owners_(static_cast<std::uint32_t>(first_owner)),
        users_(static_cast<std::uint32_t>(first_user)),
        read_only_(read_only) {}
  explicit basic_share_lock(NoOwner) noexcept : owners_(0), users_(0), read_only_(true) {}
  basic_share_lock(const basic_share_lock&) = delete;
  basic_share_lock& operator=(const basic_share_lock&) = delete;

  void add_owner() noexcept {
    // Relaxed, both: the owner that is cloned keeps the data alive.
    users_.fetch_add(1, sites.at(At::add_user, relaxed));
    const std::uint32_t before = owners_.fetch_add(1, sites.at(At::add_owner, relaxed));
    BYRE_ASSERT(before < sync::max_count, "a buffer has more than 2^30 lazy clones");
  }

  [[nodiscard]] bool drop_owner() noexcept {
    // Release pairs with last_owner: reads before it happen before a stealer's writes, or
    // locked_reads_race_a_steal fails.
    const std::uint32_t before = owners_.fetch_sub(1, sites.at(At::drop_owner, release));
    BYRE_ASSERT(before != 0, "a buffer was released more often than it was cloned");
    return drop_user();
  }

  bool is_writable() const noexcept { return !read_only_.get() && is_unique(); }

  bool is_unique() const noexcept {
    // Acquire pairs with drop_user: a write that relies on a true answer happens after all the
    // others did, or locked_reads_race_a_steal fails.
    return users_.load(sites.at(At::is_unique, acquire)) == sole_user;
  }

  std::uint32_t use_count() const noexcept {
    // Relaxed, and pairs with nothing: a number for people.
    return owners_.load(sites.at(At::use_count, relaxed));
  }

  Claim claim(Wait wait = Wait::allowed) noexcept {
    for (;;) {
      mutex_.lock_shared(sites.at(At::lock_copy));
      if (give_up_ownership(wait == Wait::never && !is_unique() ? owners_never_to_wait
                                                                : owners_to_copy)) {
        return Claim::copy;  // the shared lock is kept until the copy ends
      }
      mutex_.unlock_shared(sites.at(At::unlock_claim));
      if (pending_copies_ended()) {
        return Claim::steal;
      }
    }
  }

  [[nodiscard]] bool finish_copy() noexcept {
    mutex_.unlock_shared(sites.at(At::unlock_finish));
    return drop_user();
  }

  void abandon_copy() noexcept {
    // Relaxed: the lock orders it with the waiter's load. After the unlock,
    // locked_failing_copies would steal from an owner.
    owners_.fetch_add(1, sites.at(At::abandon_copy, relaxed));
    mutex_.unlock_shared(sites.at(At::unlock_abandon));
  }

 private:
  using At = cow::ShareLockSite;
  static constexpr const auto& sites = cow::share_lock_sites;
  static constexpr auto relaxed = std::memory_order::relaxed;
  static constexpr auto acquire = std::memory_order::acquire;
  static constexpr auto release = std::memory_order::release;
  static constexpr auto acq_rel = std::memory_order::acq_rel;

  using Is = cow::ShareLockConstant;
  static constexpr const auto& constants = cow::share_lock_constants;
  static constexpr auto first_owner = Sync::value_of(constants.at(Is::first_owner));
  static constexpr auto first_user = Sync::value_of(constants.at(Is::first_user));
  static constexpr auto owners_to_copy = Sync::value_of(constants.at(Is::owners_to_copy));
  static constexpr auto owners_never_to_wait =
      Sync::value_of(constants.at(Is::owners_never_to_wait));
  static constexpr auto owners_to_steal = Sync::value_of(constants.at(Is::owners_to_steal));
  static constexpr auto last_user = Sync::value_of(constants.at(Is::last_user));
  static constexpr auto sole_user = Sync::value_of(constants.at(Is::sole_user));

  /// Under the shared lock. False iff fewer than `at_least` own the data.
  bool give_up_ownership(std::uint64_t at_least) noexcept {
    // Relaxed, both: the lock orders the copy with a steal.
    std::uint32_t now = owners_.load(sites.at(At::count_owners, relaxed));
    while (now >= at_least) {
      if (owners_.compare_exchange_weak(now, now - 1, sites.at(At::claim_copy, relaxed))) {
        return true;
      }
    }
    return false;
  }

  /// Waits for the copies under way. True iff the caller is the last owner then.
  bool pending_copies_ended() noexcept {
    mutex_.lock(sites.at(At::lock_steal));
    // Acquire pairs with drop_owner: a steal happens after the reads of those who only dropped, or
    // locked_reads_race_a_steal fails.
    const std::uint32_t now = owners_.load(sites.at(At::last_owner, acquire));
    mutex_.unlock(sites.at(At::unlock_steal));
    return now == owners_to_steal;
  }

  bool drop_user() noexcept {
    // Release and acquire pair with each other and with is_unique: the last user frees after all
    // that the others did, or locked_drops_race_copies fails.
    return users_.fetch_sub(1, sites.at(At::drop_user, acq_rel)) == last_user;
  }

  typename Sync::template Atomic<std::uint32_t> owners_;
  typename Sync::template Atomic<std::uint32_t> users_;
  typename Sync::SharedMutex mutex_;
  const typename Sync::template Plain<bool> read_only_;
};

using ShareLock = basic_share_lock<sync::Boost>;

/// Defined in share_lock.cpp, which is no part of the library: nothing that ships uses this form.
template <>
cow::basic_no_data<sync::Boost, basic_share_lock>
    sync::detail::TheOne<cow::basic_no_data<sync::Boost, basic_share_lock>>::object;

}  // namespace byre::inline v0
