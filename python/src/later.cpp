// SPDX-License-Identifier: BSL-1.0
#include "later.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

namespace byre::inline v0::python {
namespace {

struct Later {
  std::mutex mutex;
  std::vector<PyObject*> references;
  // Hints: who reads them late drains at the next operation.
  std::atomic<bool> has_some = false;
  std::atomic<bool> is_drain_pending = false;
};

/// Never destroyed: threads may let memory go after the end of main.
Later& later() noexcept {
  alignas(Later) static std::byte place[sizeof(Later)];
  static Later* const made = ::new (place) Later;
  return *made;
}

int drain_by_interpreter(void*) noexcept {
  later().is_drain_pending.store(false);
  drain();
  return 0;
}

void ask_interpreter_to_drain() noexcept {
  // It has few places for such calls: so one is enough. Where it has none, the next operation drains.
  if (!later().is_drain_pending.exchange(true) &&
      Py_AddPendingCall(drain_by_interpreter, nullptr) != 0) {
    later().is_drain_pending.store(false);
  }
}

}  // namespace

void release_later(PyObject* reference) noexcept {
  if (Py_IsInitialized() == 0) {
    return;
  }
  {
    const std::lock_guard lock(later().mutex);
    try {
      later().references.push_back(reference);
    } catch (const std::bad_alloc&) {
      return;
    }
    later().has_some.store(true);
  }
  ask_interpreter_to_drain();
}

void drain() noexcept {
  if (!later().has_some.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  std::vector<PyObject*> references;
  {
    const std::lock_guard lock(later().mutex);
    references.swap(later().references);
    later().has_some.store(false);
  }
  for (PyObject* reference : references) {
    Py_DECREF(reference);
  }
}

void hold_later_over_fork() noexcept {
  later().mutex.lock();
}

void continue_later_in_parent() noexcept {
  later().mutex.unlock();
}

void renew_later_in_child() noexcept {
  // Its owner has another number in this process, and could not unlock it.
  ::new (&later().mutex) std::mutex;
}

}  // namespace byre::inline v0::python
