// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/thread_end.hpp>

#include <pthread.h>

namespace byre::inline BYRE_ABI::sync::detail {

namespace {
/// Whether the actions of this thread have been called.
constinit thread_local bool has_ended = false;
}  // namespace

/// Owns the pthread key whose destructor the system calls at the end of each thread. The value of
/// the key is the AtThreadEnd that the thread registered last.
class ThreadEnds final : ProcessState {
 public:
  ThreadEnds() noexcept
      : has_key_(::pthread_key_create(
                     &key_, [](void* last) { end(static_cast<AtThreadEnd*>(last)); }) == 0) {
    enter();
  }

  bool add(AtThreadEnd& end) noexcept {
    const ProcessLock lock(mutex_);  // so that the key is not deleted meanwhile
    if (!has_key_) {
      return false;
    }
    auto* const before = static_cast<AtThreadEnd*>(::pthread_getspecific(key_));
    if (::pthread_setspecific(key_, &end) != 0) {
      return false;
    }
    end.next_ = before != nullptr ? before : &end;
    return true;
  }

 private:
  static void end(AtThreadEnd* at) noexcept {
    has_ended = true;
    while (at != nullptr) {
      AtThreadEnd* const next = at->next_ != at ? at->next_ : nullptr;
      at->next_ = nullptr;
      at->action_();
      at = next;
    }
  }

  /// Deletes the key, because its destructor is about to be unloaded, and runs the actions of this
  /// thread. The actions of threads that continue to run are never called.
  void at_unload() noexcept override {
    AtThreadEnd* last = nullptr;
    {
      const ProcessLock lock(mutex_);
      if (has_key_) {
        last = static_cast<AtThreadEnd*>(::pthread_getspecific(key_));
        ::pthread_key_delete(key_);
        has_key_ = false;
      }
    }
    end(last);
  }

  ProcessMutex mutex_;
  pthread_key_t key_{};
  bool has_key_;
};

bool AtThreadEnd::add() noexcept {
  return !has_ended && no_destructor<ThreadEnds>().add(*this);
}

}  // namespace byre::inline BYRE_ABI::sync::detail
