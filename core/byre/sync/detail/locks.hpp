// SPDX-License-Identifier: BSL-1.0
/// The locks of this build's seam. Include it only in sources, because the headers of Boost.Thread
/// and of the standard library compile slowly.
#pragma once

#include <byre/config.hpp>

#if BYRE_SYNC == 1
#include <boost/thread/condition_variable.hpp>
// Not thread_only.hpp, the public header that includes thread_interruption.hpp: it uses
// std::unary_function, which libc++ has removed.
#include <boost/thread/detail/thread_interruption.hpp>
#include <boost/thread/lock_options.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/recursive_mutex.hpp>
#include <boost/thread/shared_mutex.hpp>
#elif BYRE_SYNC == 2
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#if defined(__SANITIZE_THREAD__)
#define BYRE_DETAIL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BYRE_DETAIL_TSAN 1
#endif
#endif
#ifdef BYRE_DETAIL_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#else
#include <byre/error/detail/assert.hpp>
#endif

namespace byre::inline BYRE_ABI::sync::detail {

#if BYRE_SYNC == 1

using NativeMutex = boost::mutex;
using NativeRecursiveMutex = boost::recursive_mutex;
using NativeSharedMutex = boost::shared_mutex;
using NativeCondition = boost::condition_variable;
using NativeUniqueLock = boost::unique_lock<boost::mutex>;
inline constexpr boost::adopt_lock_t adopt_lock{};

/// An interruption of Boost.Thread must not end a wait: a claim would remain incomplete. Boost
/// creates its thread key at its first use, for which a fork would not wait; process_state.cpp uses
/// it at load time.
using WithoutInterruption = boost::this_thread::disable_interruption;

#elif BYRE_SYNC == 2

#ifdef BYRE_DETAIL_TSAN
/// The destructor of std::mutex does nothing. Without this class, ThreadSanitizer mistakes a new
/// lock at the address of a destroyed one for the same lock, and reports an inverted order.
struct NativeMutex : std::mutex {
  ~NativeMutex() { __tsan_mutex_destroy(this, 0); }
};
#else
using NativeMutex = std::mutex;
#endif
using NativeRecursiveMutex = std::recursive_mutex;
using NativeSharedMutex = std::shared_mutex;
using NativeCondition = std::condition_variable;
using NativeUniqueLock = std::unique_lock<std::mutex>;
inline constexpr std::adopt_lock_t adopt_lock{};

/// The standard library has no interruptions.
struct WithoutInterruption {
  WithoutInterruption() noexcept {}  // so that an unused object is no warning
};

#else

/// A lock for one thread, which nothing can contend for.
struct NativeMutex {
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  void unlock() noexcept {}
  void lock_shared() noexcept {}
  void unlock_shared() noexcept {}
};
using NativeRecursiveMutex = NativeMutex;
using NativeSharedMutex = NativeMutex;

struct AdoptLock {};
inline constexpr AdoptLock adopt_lock{};
struct NativeUniqueLock {
  NativeUniqueLock(NativeMutex&, AdoptLock) noexcept {}
  void release() noexcept {}
};

struct NativeCondition {
  static void wait(NativeUniqueLock&) noexcept {
    BYRE_ASSERT(false, "this thread waits for another thread, but this build has one thread");
  }
  void notify_all() noexcept {}
};

struct WithoutInterruption {
  WithoutInterruption() noexcept {}
};

#endif

}  // namespace byre::inline BYRE_ABI::sync::detail
