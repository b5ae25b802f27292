// SPDX-License-Identifier: BSL-1.0
/// The parking lot over any mutex and condition variable: parking_lot.cpp makes the one that ships of
/// Boost.Thread's, a checker one of its own. parking_lot.hpp says what it promises.
///
/// A waiter checks its condition under the lock of its address's bucket, and gives the lock up by
/// sleeping. A waker changes the state first, and then passes through that lock. So
/// 1. a check after the pass sees the change;
/// 2. who checked before the pass sleeps by then, and the notification comes after;
/// 3. who shares the bucket is woken for nothing, and all are, as one could be another address's.
#pragma once

#include <byre/sync/detail/bucket_of.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::sync::detail {

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

/// `Mutex` has lock(Step) and unlock(Step); `Condition` has wait(Mutex&, Step), which may return
/// spuriously, and notify_all(Step). Two to the power of `BucketBits` buckets, at least two.
template <class Mutex, class Condition, unsigned BucketBits>
class basic_parking_lot {
 public:
  static constexpr std::size_t bucket_count = std::size_t{1} << BucketBits;

  template <class KeepWaiting>
  void park(const void* address, const KeepWaiting& keep_waiting) {
    Bucket& bucket = buckets_[bucket_of(address)];
    // Pairs with unlock_to_wake. Left out, lot_wakes_a_sleeper hangs.
    bucket.mutex.lock(sites.at(At::lock_to_park));
    if (keep_waiting()) {
      // Pairs with notify. Left out, lot_wakes_a_sleeper spins.
      bucket.condition.wait(bucket.mutex, sites.at(At::sleep));
    }
    // Pairs with the locks. Left out, lot_wakes_a_sleeper hangs.
    bucket.mutex.unlock(sites.at(At::unlock_parked));
  }

  void unpark_all(const void* address) {
    Bucket& bucket = buckets_[bucket_of(address)];
    // Pairs with sleep: who found its condition true holds this lock until it sleeps, so that the
    // notification comes after. Left out, lot_wakes_a_sleeper hangs.
    bucket.mutex.lock(sites.at(At::lock_to_wake));
    bucket.mutex.unlock(sites.at(At::unlock_to_wake));
    // Pairs with sleep. Left out, lot_wakes_a_sleeper hangs.
    bucket.condition.notify_all(sites.at(At::notify));
  }

  static std::size_t bucket_of(const void* address) noexcept {
    return detail::bucket_of<BucketBits>(address);
  }

 protected:
  // A line of its own each, so that waits for unrelated data do not disturb one another.
  struct alignas(64) Bucket {
    Mutex mutex;
    Condition condition;
  };

  using At = ParkingLotSite;
  static constexpr const auto& sites = parking_lot_sites;

  std::array<Bucket, bucket_count> buckets_;
};

}  // namespace byre::inline v0::sync::detail
