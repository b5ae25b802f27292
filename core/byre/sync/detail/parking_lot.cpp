// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/parking_lot.hpp>

#include <array>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread_only.hpp>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::sync::detail {
namespace {

// A line of its own each, so that waits for unrelated data do not disturb one another.
struct alignas(64) Bucket {
  boost::mutex mutex;
  boost::condition_variable condition;
};

// Waits are rare and short; two at once in one bucket only wake each other for nothing.
constexpr std::size_t bucket_bits = 6;
using Table = std::array<Bucket, std::size_t{1} << bucket_bits>;

Bucket& bucket_of(const void* address) noexcept {
  auto& table = no_destructor<Table>();
  // Fibonacci hashing: the high bits of the product depend on all bits of the address.
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(address) * golden_ratio;
  return table[hash >> (64 - bucket_bits)];
}

}  // namespace

void park(const void* address, KeepWaiting keep_waiting) noexcept {
  // A wait that ended by an interruption would leave a claim half done.
  const boost::this_thread::disable_interruption no_interruption;
  Bucket& bucket = bucket_of(address);
  boost::unique_lock<boost::mutex> lock(bucket.mutex);
  if (keep_waiting()) {
    bucket.condition.wait(lock);
  }
}

void unpark_all(const void* address) noexcept {
  Bucket& bucket = bucket_of(address);
  // A waiter that found its condition true holds this lock until it sleeps: passing through the
  // lock means the notification comes after.
  { const boost::lock_guard<boost::mutex> lock(bucket.mutex); }
  bucket.condition.notify_all();
}

}  // namespace byre::inline v0::sync::detail
