// SPDX-License-Identifier: BSL-1.0
/// The protocol as it was published in 2023, and is wrong: it lowers the count and then takes a
/// lock that lives beside it, which the last owner may have freed by then. docs/protocol.md has the
/// schedule.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::verification {

enum class CountThenLockSite : std::uint8_t {
  add,
  drop,
  count,
  restore,
  lock_last,
  unlock_last,
  lock_copy,
  unlock_copy,
};

inline constexpr sync::SiteTable<CountThenLockSite, 8> count_then_lock_sites{{{
    {"count_then_lock.add", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"count_then_lock.drop", sync::Operation::fetch_sub, std::memory_order::acq_rel},
    {"count_then_lock.count", sync::Operation::load, std::memory_order::acquire},
    {"count_then_lock.restore", sync::Operation::store, std::memory_order::relaxed},
    {"count_then_lock.lock_last", sync::Operation::lock, std::memory_order::seq_cst},
    {"count_then_lock.unlock_last", sync::Operation::unlock, std::memory_order::seq_cst},
    {"count_then_lock.lock_copy", sync::Operation::lock, std::memory_order::seq_cst},
    {"count_then_lock.unlock_copy", sync::Operation::unlock, std::memory_order::seq_cst},
}}};

/// In the place of basic_share_word.
template <sync::Sync Sync>
class basic_count_then_lock {
 public:
  basic_count_then_lock() : count_(1) {}

  void add_owner() noexcept { count_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed)); }

  bool drop_owner() noexcept {
    if (was_last()) {
      return true;
    }
    unlock_copy();
    return false;
  }

  bool is_unique() const noexcept {
    return count_.load(sites.at(At::count, std::memory_order::acquire)) == 1;
  }

  Claim claim(Wait = Wait::allowed) noexcept {
    if (!was_last()) {
      return Claim::copy;
    }
    count_.store(1, sites.at(At::restore, std::memory_order::relaxed));
    return Claim::steal;
  }

  bool finish_copy() noexcept {
    unlock_copy();
    return false;
  }

  void abandon_copy() noexcept {
    add_owner();
    unlock_copy();
  }

 private:
  using At = CountThenLockSite;
  static constexpr const auto& sites = count_then_lock_sites;

  /// Waits for pending copies if it was; else holds the shared lock.
  bool was_last() noexcept {
    if (count_.fetch_sub(1, sites.at(At::drop, std::memory_order::acq_rel)) == 1) {
      mutex_.lock(sites.at(At::lock_last));
      mutex_.unlock(sites.at(At::unlock_last));
      return true;
    }
    mutex_.lock_shared(sites.at(At::lock_copy));
    return false;
  }

  void unlock_copy() noexcept { mutex_.unlock_shared(sites.at(At::unlock_copy)); }

  typename Sync::template Atomic<std::uint32_t> count_;
  typename Sync::SharedMutex mutex_;
};

}  // namespace byre::verification
