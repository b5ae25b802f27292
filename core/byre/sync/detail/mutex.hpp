// SPDX-License-Identifier: BSL-1.0
/// The locks of this build's seam. Each is storage in which mutex.cpp constructs a lock of
/// detail/locks.hpp, so that this header does not include the library of the lock, which takes up
/// to a second to compile.
#pragma once

#include <byre/sync/default.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::sync {

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

template <class Lockable>
class [[nodiscard]] LockGuard {
 public:
  explicit LockGuard(Lockable& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~LockGuard() { mutex_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lockable& mutex_;
};

using Lock = LockGuard<Mutex>;

/// An exclusive lock of state of the process. A fork locks every ProcessMutex before it duplicates
/// the process, and unlocks it afterwards, so the guarded state is consistent in the child. While a
/// thread holds one, it must not
///
/// - lock another ProcessMutex,
/// - call no_destructor() for an object that may not exist yet, or
/// - call code of the user, such as a new-handler (so it must not allocate).
///
/// Otherwise the thread and a fork could wait for each other.
class BYRE_API ProcessMutex final : detail::ProcessState {
 public:
  /// `after_fork` is called after each fork, in the parent and in the child, with the mutex held.
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

using ProcessLock = LockGuard<ProcessMutex>;

/// The shared-exclusive lock that makes sync::Default a LockingSync. In a child of a fork it may be
/// locked by threads that do not exist there: call renew().
class BYRE_API SharedMutex {
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

  /// Replaces the lock by an unlocked one. Call it in a child of a fork, from the only thread.
  void renew() noexcept;

 private:
  alignas(std::max_align_t) std::byte place_[384];
};

static_assert(LockingSync<Default>);

using ExclusiveLock = LockGuard<SharedMutex>;

class SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) : mutex_(mutex) { mutex_.lock_shared(); }
  ~SharedLock() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace byre::inline BYRE_ABI::sync
