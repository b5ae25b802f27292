// SPDX-License-Identifier: BSL-1.0
/// A table of locks by address, generic over the mutex and the condition variable. lock_table.cpp
/// instantiates the table that ships, with the mutex and condition variable of the seam. A
/// model checker instantiates a table of its own.
///
/// Each bucket is a monitor (a mutex and a condition variable) that guards a list of lock holders.
/// 1. An address is locked iff the list contains a holder of that address. The list is accessed
///    only under the mutex of the bucket. Hence at most one thread holds an address, and everything
///    that earlier holders did happens before it acquires the address.
/// 2. A thread calls `is_done()` under the mutex, while no thread holds the address. The call
///    happens after everything that earlier holders did, and needs no further lock.
/// 3. A thread that finds the address locked releases the mutex by sleeping. A holder first removes
///    itself from the list and then notifies, so the sleeper is woken. The holder notifies all
///    threads of the bucket, because a single notification could reach a thread that waits for
///    another address.
#pragma once

#include <byre/sync/detail/bucket_of.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

enum class LockTableSite : std::uint8_t {
  lock_to_enter,
  sleep,
  unlock_entered,
  lock_to_leave,
  unlock_left,
  notify,
};

inline constexpr SiteTable<LockTableSite, 6> lock_table_sites{{{
    {"lock_table.lock_to_enter", Operation::lock, std::memory_order::seq_cst},
    {"lock_table.sleep", Operation::park, std::memory_order::seq_cst},
    {"lock_table.unlock_entered", Operation::unlock, std::memory_order::seq_cst},
    {"lock_table.lock_to_leave", Operation::lock, std::memory_order::seq_cst},
    {"lock_table.unlock_left", Operation::unlock, std::memory_order::seq_cst},
    {"lock_table.notify", Operation::unpark, std::memory_order::seq_cst},
}}};

/// `Mutex` provides lock(Step) and unlock(Step); `Condition` provides wait(Mutex&, Step), which may
/// return spuriously, and notify_all(Step). There are 2^BucketBits buckets, and BucketBits is at
/// least 1. Progress: blocks while another thread holds the address.
template <Sync Sync, class Mutex, class Condition, unsigned BucketBits>
class basic_lock_table {
 public:
  static constexpr std::size_t bucket_count = std::size_t{1} << BucketBits;
  using Holder = LockHolder<Sync>;

  /// Waits until no thread holds `holder.address`, then calls `is_done()`. If `is_done()` returns
  /// false, `holder` holds the address until unlock(). Returns whether `holder` holds the address.
  /// Throws what `is_done` throws.
  template <class IsDone>
  [[nodiscard]] bool lock_unless(Holder& holder, const IsDone& is_done) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    const BucketLock lock(bucket.mutex);
    while (bucket.holds(holder.address)) {
      // Pairs with notify. Without this wait, writers_in_parallel spins.
      bucket.condition.wait(bucket.mutex, sites.at(At::sleep));
    }
    if (is_done()) {
      return false;
    }
    holder.next.set(bucket.first.get());
    bucket.first.set(&holder);
    return true;
  }

  void unlock(Holder& holder) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    // Pairs with unlock_entered. Without this lock, writers_in_parallel fails.
    bucket.mutex.lock(sites.at(At::lock_to_leave));
    bucket.remove(holder);
    // Pairs with lock_to_enter. Without this unlock, writers_in_parallel hangs.
    bucket.mutex.unlock(sites.at(At::unlock_left));
    // Pairs with sleep. Without this notification, writers_in_parallel hangs.
    bucket.condition.notify_all(sites.at(At::notify));
  }

  static std::size_t bucket_of(const void* address) noexcept {
    return detail::bucket_of<BucketBits>(address);
  }

 protected:
  using At = LockTableSite;
  static constexpr const auto& sites = lock_table_sites;

  class BucketLock {
   public:
    explicit BucketLock(Mutex& mutex) : mutex_(mutex) {
      // Pairs with unlock_left. Without this lock, writers_in_parallel fails.
      mutex_.lock(sites.at(At::lock_to_enter));
    }
    ~BucketLock() {
      // Pairs with lock_to_enter and lock_to_leave. Without this unlock, writers_in_parallel hangs.
      mutex_.unlock(sites.at(At::unlock_entered));
    }
    BucketLock(const BucketLock&) = delete;
    BucketLock& operator=(const BucketLock&) = delete;

   private:
    Mutex& mutex_;
  };

  // Each bucket occupies its own cache lines, because locks of unrelated objects would otherwise
  // contend for a line.
  struct alignas(64) Bucket {
    Mutex mutex;
    Condition condition;
    typename Sync::template Plain<Holder*> first{nullptr};

    bool holds(const void* address) const noexcept {
      const Holder* holder = first.get();
      while (holder != nullptr && holder->address != address) {
        holder = holder->next.get();
      }
      return holder != nullptr;
    }

    void remove(const Holder& holder) noexcept {
      auto* place = &first;
      // In a child of a fork the table is new, so it does not contain a holder that locked before
      // the fork.
      while (place->get() != nullptr && place->get() != &holder) {
        place = &place->get()->next;
      }
      if (place->get() == &holder) {
        place->set(holder.next.get());
      }
    }
  };

  std::array<Bucket, bucket_count> buckets_;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
