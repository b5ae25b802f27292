// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/detail/warning_handler.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

#include <pthread.h>
#include <sched.h>

// Whose public header, thread_only.hpp, uses std::unary_function, which libc++ has no more.
#include <boost/thread/detail/thread_interruption.hpp>
#include <boost/thread/recursive_mutex.hpp>
#include <cstddef>
#include <new>

namespace byre::inline v0::sync::detail {

constinit std::uint32_t process_number = 0;
constinit thread_local bool holds_process_mutex = false;

/// The parts of the state, and the lock of first uses, which is that of their list too.
class ProcessStates {
 public:
  void lock() { first_use_.lock(); }
  void unlock() { first_use_.unlock(); }

  void add(ProcessState& part) noexcept {
    part.next_ = first_;
    if (first_ != nullptr) {
      first_->previous_ = &part;
    }
    first_ = &part;
  }
  void remove(ProcessState& part) noexcept {
    (part.previous_ != nullptr ? part.previous_->next_ : first_) = part.next_;
    if (part.next_ != nullptr) {
      part.next_->previous_ = part.previous_;
    }
  }

  /// Nobody waits for first_use_ while holding what a part locks, and nobody holds two of those: so
  /// any order will do. malloc's locks are taken later, by fork() itself.
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
    // Its owner has another number in this process, and could not unlock it.
    ::new (&first_use_) boost::recursive_mutex;
    forks_.set(0);
  }

  /// Waits for a fork that has begun. Those that begin later are let pass.
  void ignore_forks() noexcept {
    const FirstUse lock;
    watches_forks_ = false;
  }

  void at_unload() noexcept {
    {
      const FirstUse lock;
      for_each(&ProcessState::at_unload);
    }
    // A handler that is left by waking this thread would find its code gone: so this asks.
    while (forks_.value() != 0) {
      ::sched_yield();
    }
  }

 private:
  void for_each(void (ProcessState::*what)() noexcept) noexcept {
    for (ProcessState* part = first_; part != nullptr; part = part->next_) {
      (part->*what)();
    }
  }

  RelaxedCounter forks_;  // that are in the handlers, whose code is not to be unloaded under them
  boost::recursive_mutex first_use_;
  ProcessState* first_ = nullptr;
  bool watches_forks_ = true;  // changes under first_use_, which a fork holds that found it true
};

namespace {

alignas(ProcessStates) constinit std::byte place[sizeof(ProcessStates)]{};

ProcessStates& states() noexcept {
  return *std::launder(reinterpret_cast<ProcessStates*>(place));
}

/// The only code that runs when the library is loaded: handlers that are registered later could miss a
/// fork that has begun, which would copy what is locked since. It comes before the initializers of a
/// program that contains the library. Without memory for it a fork is as if nobody was told of it.
[[gnu::constructor(101)]] void watch_forks() {
  ::new (place) ProcessStates;
  byre::detail::warning_handler();  // made, so that its lock can be held
  // Has Boost make its thread key, by a first use that a fork would not wait for.
  const boost::this_thread::disable_interruption first_use;
  ::pthread_atfork([] { states().before_fork(); }, [] { states().in_parent(); },
                   [] { states().in_child(); });
}

/// Before the system forgets the handlers, and so before the destructors of statics too: a fork that has begun
/// would not be ended.
[[gnu::destructor]] void ignore_forks() {
  states().ignore_forks();
}

/// After the destructors of statics.
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
  BYRE_ASSERT(!holds_process_mutex, "a first use came under a lock that a fork waits for");
  states().lock();
}
FirstUse::~FirstUse() {
  states().unlock();
}

}  // namespace byre::inline v0::sync::detail
