// SPDX-License-Identifier: BSL-1.0
/// The table of locks by address over any mutex and condition variable: lock_table.cpp makes the one that
/// ships of Boost.Thread's, a checker one of its own.
///
/// Each bucket is a monitor of the list of those who hold a lock in it.
/// 1. An address is locked iff a holder of it is in the list, which is read and written under the bucket's
///    mutex alone. So one thread holds it, and comes after all that was done under it before.
/// 2. Who asks whether anything is left to be done asks under the mutex, while nobody holds the address: it
///    comes after all that was done under it too, and needs no lock of its own.
/// 3. Who finds the address locked gives up the mutex by sleeping, and the holder notifies after it took
///    itself off the list: so a sleeper is woken. All of the bucket are, as one could be another address's.
#pragma once

#include <byre/sync/detail/bucket_of.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::sync::detail {

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

/// `Mutex` has lock(Step) and unlock(Step); `Condition` has wait(Mutex&, Step), which may return
/// spuriously, and notify_all(Step). Two to the power of `BucketBits` buckets, at least two.
/// Progress: blocking, for as long as another holds the same address.
template <Sync Sync, class Mutex, class Condition, unsigned BucketBits>
class basic_lock_table {
 public:
  static constexpr std::size_t bucket_count = std::size_t{1} << BucketBits;
  using Holder = LockHolder<Sync>;

  /// Once nobody holds the address: asks `is_done()`, and if that is false `holder` holds it, until
  /// unlock(). Returns whether it does. What `is_done` throws is thrown.
  template <class IsDone>
  [[nodiscard]] bool lock_unless(Holder& holder, const IsDone& is_done) {
    Bucket& bucket = buckets_[bucket_of(holder.address)];
    const Entered entered(bucket.mutex);
    while (bucket.holds(holder.address)) {
      // Pairs with notify. Left out, writers_in_parallel spins.
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
    // Pairs with unlock_entered. Left out, writers_in_parallel fails.
    bucket.mutex.lock(sites.at(At::lock_to_leave));
    bucket.remove(holder);
    // Pairs with lock_to_enter. Left out, writers_in_parallel hangs.
    bucket.mutex.unlock(sites.at(At::unlock_left));
    // Pairs with sleep. Left out, writers_in_parallel hangs.
    bucket.condition.notify_all(sites.at(At::notify));
  }

  static std::size_t bucket_of(const void* address) noexcept {
    return detail::bucket_of<BucketBits>(address);
  }

 protected:
  using At = LockTableSite;
  static constexpr const auto& sites = lock_table_sites;

  class Entered {
   public:
    explicit Entered(Mutex& mutex) : mutex_(mutex) {
      // Pairs with unlock_left. Left out, writers_in_parallel fails.
      mutex_.lock(sites.at(At::lock_to_enter));
    }
    ~Entered() {
      // Pairs with the locks. Left out, writers_in_parallel hangs.
      mutex_.unlock(sites.at(At::unlock_entered));
    }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    Mutex& mutex_;
  };

  // A line of its own each, so that unrelated objects do not disturb one another.
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
      // Not in the list if it forked, and its child comes by here: that has a new table.
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

}  // namespace byre::inline v0::sync::detail
