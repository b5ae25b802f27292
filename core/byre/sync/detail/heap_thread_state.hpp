// SPDX-License-Identifier: BSL-1.0
/// HeapThreadState: an object of each thread on the heap, for builds whose thread-local variables
/// end too early (BYRE_NATIVE_TLS). It is slower than a thread-local variable.
#pragma once

#include <byre/sync/detail/process_state.hpp>
#include <byre/system/detail/process.hpp>

#include <new>

namespace byre::inline BYRE_ABI::sync::detail {

/// The system calls `end(object)` at the end of each thread, and for each thread when the library
/// is unloaded before the program ends. Use it as the argument of no_destructor().
template <class Object, void (*end)(Object*) noexcept>
class HeapThreadState final : ProcessState {
 public:
  HeapThreadState() noexcept
      : variable_([](void* object) {
          if (!system::process_ends()) {
            end(static_cast<Object*>(object));
            delete static_cast<Object*>(object);
          }
        }) {
    enter();
  }

  /// The object of this thread, or null.
  Object* get() const noexcept {
    return variable_.has_key() ? static_cast<Object*>(variable_.get()) : nullptr;
  }
  /// Null if memory is lacking, or after the library was unloaded.
  Object* get_or_make() noexcept {
    Object* const object = get();
    return object != nullptr || !variable_.has_key() ? object : make();
  }

 private:
  Object* make() noexcept {
    auto* const made = new (std::nothrow) Object;
    // The user's operator new may have used this thread's object.
    if (Object* const other = get(); other != nullptr || made == nullptr || !variable_.set(made)) {
      delete made;
      return other;
    }
    return made;
  }
  /// At the end of the program, other threads may still use their objects, or the system may have
  /// ended them while they held locks.
  void at_unload() noexcept override {
    if (variable_.has_key() && system::outlives_this_library()) {
      variable_.destroy();
    }
  }

  system::ThreadVariable variable_;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
