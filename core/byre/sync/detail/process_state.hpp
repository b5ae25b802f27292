// SPDX-License-Identifier: BSL-1.0
/// ProcessState: a base class for state that belongs to the whole process, such as a lock or a
/// table. Its callbacks run around fork() and when the library is unloaded. During a fork, no
/// thread but the forking one changes such state, so the state is consistent in the child.
/// docs/threads.md states what byre guarantees in a child.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

/// The number of forks between the oldest ancestor process that had loaded this library and this
/// process. A child increments it while it has only one thread.
BYRE_API extern constinit std::uint32_t process_number;

/// From enter() until leave(), the forking thread calls the virtual functions around each fork.
/// They may use the heap. enter(), leave() and the construction of an object of the process
/// (no_destructor.hpp) wait for a fork in progress.
class BYRE_API ProcessState {
 public:
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  virtual void before_fork() noexcept {}
  virtual void in_parent() noexcept {}
  /// The only thread of the child calls this. The other threads of the parent do not exist in the
  /// child, but locks that they held are still locked.
  virtual void in_child() noexcept {}
  /// Called while the library is being unloaded or the program ends. The program may still use the
  /// state afterwards.
  virtual void at_unload() noexcept {}

 protected:
  ProcessState() noexcept = default;
  ~ProcessState() = default;

  /// Call it at the end of the constructor, once the state is consistent.
  void enter() noexcept;
  /// Call it at the start of the destructor, while the state is consistent.
  void leave() noexcept;

 private:
  friend class ProcessStates;
  ProcessState* next_ = nullptr;
  ProcessState* previous_ = nullptr;
};

/// Whether the calling thread holds a ProcessMutex (mutex.hpp). Unused without BYRE_NATIVE_TLS.
extern constinit thread_local bool holds_process_mutex;

/// A recursive lock, held while an object of the process is constructed on first use. A fork waits
/// for it, so a child never finds a partially constructed object.
class BYRE_API FirstUse {
 public:
  FirstUse() noexcept;
  ~FirstUse();
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
