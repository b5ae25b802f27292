// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/thread_end.hpp>
#include <byre/system/detail/process.hpp>

namespace byre::inline BYRE_ABI::sync::detail {

namespace {
/// Whether the actions of this thread have been called.
constinit thread_local bool has_ended = false;
}  // namespace

/// Owns the variable whose function the system calls at the end of each thread. The value of the
/// variable is the AtThreadEnd that the thread registered last.
class ThreadEnds final : ProcessState {
 public:
  ThreadEnds() noexcept : last_([](void* last) { end(static_cast<AtThreadEnd*>(last)); }) {
    enter();
  }

  bool add(AtThreadEnd& end) noexcept {
    const ProcessLock lock(mutex_);  // so that the key is not deleted meanwhile
    if (!last_.has_key()) {
      return false;
    }
    auto* const before = static_cast<AtThreadEnd*>(last_.get());
    if (!last_.set(&end)) {
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
      if (last_.has_key()) {
        last = static_cast<AtThreadEnd*>(last_.get());
        last_.destroy();
      }
    }
    end(last);
  }

  ProcessMutex mutex_;
  system::ThreadVariable last_;
};

bool AtThreadEnd::add() noexcept {
  return !has_ended && no_destructor<ThreadEnds>().add(*this);
}

}  // namespace byre::inline BYRE_ABI::sync::detail
