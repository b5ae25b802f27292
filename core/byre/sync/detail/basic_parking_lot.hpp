// SPDX-License-Identifier: BSL-1.0
/// A parking lot, generic over the mutex and the condition variable. parking_lot.cpp instantiates
/// the parking lot that ships, with the mutex and condition variable of the seam. A model
/// checker instantiates a parking lot of its own. parking_lot.hpp specifies the functions.
///
/// A waiter checks its condition under the mutex of its address's bucket, and releases the mutex by
/// sleeping. A waker changes the state, then locks and unlocks the mutex, then notifies.
/// 1. A check after the waker's lock reads the change.
/// 2. A waiter that checked before the waker's lock is asleep when the waker locks, so the
///    notification wakes it.
/// 3. All threads of the bucket are notified, because a single notification could reach a thread
///    that waits for another address. Threads of other addresses wake spuriously.
#pragma once

#include <byre/sync/detail/bucket_of.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

enum class ParkingLotSite : std::uint8_t {
  lock_to_park,
  sleep,
  unlock_parked,
  lock_to_wake,
  unlock_to_wake,
  notify,
};

inline constexpr SiteTable<ParkingLotSite, 6> parking_lot_sites{{{
    {"parking_lot.lock_to_park", Operation::lock, std::memory_order::seq_cst},
    {"parking_lot.sleep", Operation::park, std::memory_order::seq_cst},
    {"parking_lot.unlock_parked", Operation::unlock, std::memory_order::seq_cst},
    {"parking_lot.lock_to_wake", Operation::lock, std::memory_order::seq_cst},
    {"parking_lot.unlock_to_wake", Operation::unlock, std::memory_order::seq_cst},
    {"parking_lot.notify", Operation::unpark, std::memory_order::seq_cst},
}}};

/// `Mutex` provides lock(Step) and unlock(Step); `Condition` provides wait(Mutex&, Step), which may
/// return spuriously, and notify_all(Step). There are 2^BucketBits buckets, and BucketBits is at
/// least 1.
template <class Mutex, class Condition, unsigned BucketBits>
class basic_parking_lot {
 public:
  static constexpr std::size_t bucket_count = std::size_t{1} << BucketBits;

  template <class KeepWaiting>
  void park(const void* address, const KeepWaiting& keep_waiting) {
    Bucket& bucket = buckets_[bucket_of(address)];
    // Pairs with unlock_to_wake. Without this lock, lot_wakes_a_sleeper hangs.
    bucket.mutex.lock(sites.at(At::lock_to_park));
    if (keep_waiting()) {
      // Pairs with notify. Without this wait, lot_wakes_a_sleeper spins.
      bucket.condition.wait(bucket.mutex, sites.at(At::sleep));
    }
    // Pairs with lock_to_park and lock_to_wake. Without this unlock, lot_wakes_a_sleeper hangs.
    bucket.mutex.unlock(sites.at(At::unlock_parked));
  }

  void unpark_all(const void* address) {
    Bucket& bucket = buckets_[bucket_of(address)];
    // Pairs with sleep: a waiter that found its condition true holds this mutex until it sleeps, so
    // the notification comes later. Without this lock, lot_wakes_a_sleeper hangs.
    bucket.mutex.lock(sites.at(At::lock_to_wake));
    bucket.mutex.unlock(sites.at(At::unlock_to_wake));
    // Pairs with sleep. Without this notification, lot_wakes_a_sleeper hangs.
    bucket.condition.notify_all(sites.at(At::notify));
  }

  static std::size_t bucket_of(const void* address) noexcept {
    return detail::bucket_of<BucketBits>(address);
  }

 protected:
  // Each bucket occupies its own cache lines, because waits for unrelated data would otherwise
  // contend for a line.
  struct alignas(64) Bucket {
    Mutex mutex;
    Condition condition;
  };

  using At = ParkingLotSite;
  static constexpr const auto& sites = parking_lot_sites;

  std::array<Bucket, bucket_count> buckets_;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
