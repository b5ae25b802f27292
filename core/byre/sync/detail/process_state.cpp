// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/detail/warning_handler.hpp>
#include <byre/sync/detail/locks.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/relaxed.hpp>
#include <byre/system/detail/process.hpp>

#include <cstddef>
#include <new>
#include <thread>

namespace byre::inline BYRE_ABI::sync::detail {

constinit std::uint32_t process_number = 0;
constinit thread_local bool holds_process_mutex = false;

/// The list of all ProcessStates. `first_use_` guards the list and is the lock of FirstUse.
class ProcessStates {
 public:
  void lock() { first_use_.lock(); }
  void unlock() { first_use_.unlock(); }

  void add(ProcessState& state) noexcept {
    state.next_ = first_;
    if (first_ != nullptr) {
      first_->previous_ = &state;
    }
    first_ = &state;
  }
  void remove(ProcessState& state) noexcept {
    (state.previous_ != nullptr ? state.previous_->next_ : first_) = state.next_;
    if (state.next_ != nullptr) {
      state.next_->previous_ = state.previous_;
    }
  }

  /// Any order of locking is free of deadlock: no thread waits for `first_use_` while it holds a
  /// lock of a ProcessState, and no thread holds the locks of two ProcessStates. fork() itself
  /// acquires the locks of malloc later.
  void before_fork() noexcept {
    forks_.add();
    lock();
    if (!watches_forks_) {
      unlock();
      forks_.subtract();
      return;
    }
    byre::detail::warning_handler().lock();
    for_each(&ProcessState::before_fork);
  }
  void in_parent() noexcept {
    if (!watches_forks_) {
      return;
    }
    for_each(&ProcessState::in_parent);
    byre::detail::warning_handler().unlock();
    unlock();
    forks_.subtract();
  }
  void in_child() noexcept {
    if (!watches_forks_) {
      return;
    }
    ++process_number;
    for_each(&ProcessState::in_child);
    byre::detail::warning_handler().unlock();
    // The mutex cannot be unlocked: its owner has another thread id in this process.
    ::new (&first_use_) NativeRecursiveMutex;
    forks_.set(0);
  }

  /// Waits for a fork that has begun. Later forks are ignored.
  void ignore_forks() noexcept {
    const FirstUse lock;
    watches_forks_ = false;
  }

  void at_unload() noexcept {
    {
      const FirstUse lock;
      for_each(&ProcessState::at_unload);
    }
    // Polls: if a fork handler woke this thread, the code of the handler could be unloaded before
    // the handler returns.
    while (forks_.value() != 0) {
      std::this_thread::yield();
    }
  }

 private:
  void for_each(void (ProcessState::*action)() noexcept) noexcept {
    for (ProcessState* state = first_; state != nullptr; state = state->next_) {
      (state->*action)();
    }
  }

  RelaxedCounter forks_;  // forks that run the functions above, whose code must stay loaded
  NativeRecursiveMutex first_use_;
  ProcessState* first_ = nullptr;
  // Guarded by first_use_. A fork that reads true in before_fork() holds first_use_ until it ends.
  bool watches_forks_ = true;
};

namespace {

alignas(ProcessStates) constinit std::byte place[sizeof(ProcessStates)]{};

ProcessStates& states() noexcept {
  return *std::launder(reinterpret_cast<ProcessStates*>(place));
}

/// The only code that runs when the library is loaded. If the handlers were registered later, a
/// fork that had already begun would skip them and duplicate locks that other threads acquired in
/// the meantime. This function runs before the initializers of a program that links the library
/// statically. If the system lacks the memory to register the handlers, byre does not handle forks.
[[gnu::constructor(101)]] void watch_forks() {
  ::new (place) ProcessStates;
  byre::detail::warning_handler();      // constructed now, so that a fork can hold its lock
  const WithoutInterruption first_use;  // see locks.hpp
  system::watch_forks([] { states().before_fork(); }, [] { states().in_parent(); },
                      [] { states().in_child(); });
}

/// Runs before the system unregisters the handlers, and so before the destructors of statics:
/// without this function, a fork that has begun would never call its second handler.
[[gnu::destructor]] void ignore_forks() {
  states().ignore_forks();
}

/// Runs after the destructors of statics.
[[gnu::destructor(101)]] void unload() {
  states().at_unload();
}

}  // namespace

void ProcessState::enter() noexcept {
  const FirstUse lock;
  states().add(*this);
}

void ProcessState::leave() noexcept {
  const FirstUse lock;
  states().remove(*this);
}

FirstUse::FirstUse() noexcept {
  if (BYRE_NATIVE_TLS) {
    BYRE_ASSERT(!holds_process_mutex,
                "cannot create an object of the process: this thread holds a ProcessMutex");
  }
  states().lock();
}
FirstUse::~FirstUse() {
  states().unlock();
}

}  // namespace byre::inline BYRE_ABI::sync::detail
