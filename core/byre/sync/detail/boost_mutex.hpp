// SPDX-License-Identifier: BSL-1.0
/// The locks of sync::Boost, without the headers of Boost.Thread, which take a second to compile: each
/// lock is a place that boost_mutex.cpp makes a lock of Boost.Thread in.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <boost/thread/lock_guard.hpp>
#include <cstddef>

namespace byre::inline v0::sync {

/// An exclusive lock.
class BYRE_API Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock();
  void unlock();

 private:
  alignas(std::max_align_t) std::byte place_[64];
};

using Lock = boost::lock_guard<Mutex>;

/// An exclusive lock of what all threads share. It is held while the process forks, so that what it
/// guards is whole in the child. Who holds one locks no other, uses no object of the process for the
/// first time, and calls nothing of the user's, as the handler of `new` is: a fork would wait for it, or it
/// for the fork.
class BYRE_API ProcessMutex final : detail::ProcessState {
 public:
  /// `after_fork` is called in the parent and in the child, while they hold it.
  explicit ProcessMutex(void (*after_fork)() noexcept = nullptr);
  ~ProcessMutex();

  void lock();
  void unlock();
  void lock(Step) { lock(); }
  void unlock(Step) { unlock(); }

 private:
  void before_fork() noexcept override { mutex_.lock(); }
  void in_parent() noexcept override;
  void in_child() noexcept override { in_parent(); }

  Mutex mutex_;
  void (*const after_fork_)() noexcept;
};

using ProcessLock = boost::lock_guard<ProcessMutex>;

/// The shared-exclusive lock, which makes sync::Boost a LockingSync. A child of a fork whose other
/// threads had it renews it.
class BYRE_API Boost::SharedMutex {
 public:
  SharedMutex();
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock();
  void unlock();
  void lock_shared();
  void unlock_shared();

  void lock(Step) { lock(); }
  void unlock(Step) { unlock(); }
  void lock_shared(Step) { lock_shared(); }
  void unlock_shared(Step) { unlock_shared(); }

  /// In a child, by its only thread: a new one, whoever had locked this.
  void renew() noexcept;

 private:
  alignas(std::max_align_t) std::byte place_[384];
};

static_assert(LockingSync<Boost>);

using ExclusiveLock = boost::lock_guard<Boost::SharedMutex>;

class SharedLock {
 public:
  explicit SharedLock(Boost::SharedMutex& mutex) : mutex_(mutex) { mutex_.lock_shared(); }
  ~SharedLock() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  Boost::SharedMutex& mutex_;
};

}  // namespace byre::inline v0::sync
