// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <boost/thread/mutex.hpp>
#include <boost/thread/shared_mutex.hpp>
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
  ::new (place_) boost::mutex;
}
Mutex::~Mutex() {
  std::destroy_at(&in<boost::mutex>(place_));
}
void Mutex::lock() {
  in<boost::mutex>(place_).lock();
}
void Mutex::unlock() {
  in<boost::mutex>(place_).unlock();
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
  BYRE_ASSERT(!detail::holds_process_mutex,
              "cannot lock a second ProcessMutex: this thread holds one");
  mutex_.lock();
  detail::holds_process_mutex = true;
}
void ProcessMutex::unlock() {
  detail::holds_process_mutex = false;
  mutex_.unlock();
}

Boost::SharedMutex::SharedMutex() {
  ::new (place_) boost::shared_mutex;
}
Boost::SharedMutex::~SharedMutex() {
  std::destroy_at(&in<boost::shared_mutex>(place_));
}
void Boost::SharedMutex::renew() noexcept {
  // The old lock is not destroyed: its destructor could wait for threads that do not exist in this
  // process.
  ::new (place_) boost::shared_mutex;
}
void Boost::SharedMutex::lock() {
  in<boost::shared_mutex>(place_).lock();
}
void Boost::SharedMutex::unlock() {
  in<boost::shared_mutex>(place_).unlock();
}
void Boost::SharedMutex::lock_shared() {
  in<boost::shared_mutex>(place_).lock_shared();
}
void Boost::SharedMutex::unlock_shared() {
  in<boost::shared_mutex>(place_).unlock_shared();
}

}  // namespace byre::inline BYRE_ABI::sync
