// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/locks.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <memory>
#include <new>

namespace byre::inline BYRE_ABI::sync {
namespace {

/// The lock that was constructed in `place`.
template <class Object, std::size_t nbytes>
Object& in(std::byte (&place)[nbytes]) noexcept {
  static_assert(sizeof(Object) <= nbytes && alignof(Object) <= alignof(std::max_align_t));
  return *std::launder(reinterpret_cast<Object*>(place));
}

}  // namespace

Mutex::Mutex() {
  ::new (place_) detail::NativeMutex;
}
Mutex::~Mutex() {
  std::destroy_at(&in<detail::NativeMutex>(place_));
}
void Mutex::lock() {
  in<detail::NativeMutex>(place_).lock();
}
void Mutex::unlock() {
  in<detail::NativeMutex>(place_).unlock();
}

ProcessMutex::ProcessMutex(void (*after_fork)() noexcept) : after_fork_(after_fork) {
  enter();
}
ProcessMutex::~ProcessMutex() {
  leave();
}
void ProcessMutex::in_parent() noexcept {
  if (after_fork_ != nullptr) {
    after_fork_();
  }
  mutex_.unlock();
}
void ProcessMutex::lock() {
  if (BYRE_NATIVE_TLS) {  // else the variable may have ended, and its use would leak memory
    BYRE_ASSERT(!detail::holds_process_mutex,
                "cannot lock a second ProcessMutex: this thread holds one");
  }
  mutex_.lock();
  if (BYRE_NATIVE_TLS) {
    detail::holds_process_mutex = true;
  }
}
void ProcessMutex::unlock() {
  if (BYRE_NATIVE_TLS) {
    detail::holds_process_mutex = false;
  }
  mutex_.unlock();
}

SharedMutex::SharedMutex() {
  ::new (place_) detail::NativeSharedMutex;
  // winpthreads initializes the lock at its first use, during which the locks of other threads fail
  // and exclude no thread. try_lock(), not lock(): this thread may hold other locks, and
  // ThreadSanitizer would report their order.
  if (in<detail::NativeSharedMutex>(place_).try_lock()) {
    unlock();
  }
}
SharedMutex::~SharedMutex() {
  std::destroy_at(&in<detail::NativeSharedMutex>(place_));
}
void SharedMutex::renew() noexcept {
  // The old lock is not destroyed: its destructor could wait for threads that do not exist in this
  // process.
  ::new (place_) detail::NativeSharedMutex;
}
void SharedMutex::lock() {
  in<detail::NativeSharedMutex>(place_).lock();
}
void SharedMutex::unlock() {
  in<detail::NativeSharedMutex>(place_).unlock();
}
void SharedMutex::lock_shared() {
  in<detail::NativeSharedMutex>(place_).lock_shared();
}
void SharedMutex::unlock_shared() {
  in<detail::NativeSharedMutex>(place_).unlock_shared();
}

}  // namespace byre::inline BYRE_ABI::sync
