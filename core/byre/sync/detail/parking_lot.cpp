// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/basic_parking_lot.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <boost/thread/condition_variable.hpp>
// Whose public header, thread_only.hpp, uses std::unary_function, which libc++ has no more.
#include <boost/thread/detail/thread_interruption.hpp>
#include <boost/thread/lock_options.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <new>

namespace byre::inline v0::sync::detail {
namespace {

/// Boost.Thread's, whose steps cost nothing more than themselves.
class LotMutex {
 public:
  void lock(Step) { mutex_.lock(); }
  void unlock(Step) { mutex_.unlock(); }

 private:
  friend class LotCondition;
  boost::mutex mutex_;
};

class LotCondition {
 public:
  void wait(LotMutex& mutex, Step) {
    boost::unique_lock<boost::mutex> lock(mutex.mutex_, boost::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_all(Step) noexcept { condition_.notify_all(); }

 private:
  boost::condition_variable condition_;
};

// Waits are rare and short; two at once in one bucket only wake each other for nothing.
constexpr unsigned bucket_bits = 6;
using ParkingLot = basic_parking_lot<LotMutex, LotCondition, bucket_bits>;

/// The lot has no state but who sleeps, which in a child of a fork is nobody.
class ProcessLot final : ProcessState {
 public:
  ProcessLot() { enter(); }

  ParkingLot lot;

 private:
  void in_child() noexcept override { ::new (&lot) ParkingLot; }
};

ParkingLot& parking_lot() {
  return no_destructor<ProcessLot>().lot;
}

}  // namespace

void park(const void* address, KeepWaiting keep_waiting) noexcept {
  // A wait that ended by an interruption would leave a claim half done.
  const boost::this_thread::disable_interruption no_interruption;
  parking_lot().park(address, keep_waiting);
}

void unpark_all(const void* address) noexcept {
  parking_lot().unpark_all(address);
}

}  // namespace byre::inline v0::sync::detail
