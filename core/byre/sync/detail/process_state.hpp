// SPDX-License-Identifier: BSL-1.0
/// The state of the process: what a fork does to it, and what is left of it when the library is unloaded.
/// No thread changes it while the process forks, so that the child finds it whole. docs/guide.md says
/// what is promised to a child.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline v0::sync::detail {

/// How often the process was forked since its oldest ancestor that had loaded this library. A child
/// counts before it has a second thread.
BYRE_API extern constinit std::uint32_t process_number;

/// A part of the state of the process, which is told of each fork, by the thread that forks, from enter()
/// until leave(). Both wait for a fork that is under way, and so does the making of an object of the
/// process. The heap may be used meanwhile.
class BYRE_API ProcessState {
 public:
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  virtual void before_fork() noexcept {}
  virtual void in_parent() noexcept {}
  /// There are no other threads. Those that there were are gone, whatever they had locked.
  virtual void in_child() noexcept {}
  /// When the library is unloaded, or the program ends, which may still use the state then.
  virtual void at_unload() noexcept {}

 protected:
  ProcessState() noexcept = default;
  ~ProcessState() = default;

  /// Once it is whole: at the end of its constructor.
  void enter() noexcept;
  /// While it is whole: at the begin of its destructor, if that ever runs.
  void leave() noexcept;

 private:
  friend class ProcessStates;
  ProcessState* next_ = nullptr;
  ProcessState* previous_ = nullptr;
};

/// Of the calling thread: whether it holds a ProcessMutex, of boost_mutex.hpp.
extern constinit thread_local bool holds_process_mutex;

/// Held while an object of the process is made on first use. One thread at a time holds it, any number of
/// times. A fork waits for it, so that a child never finds an object half made.
class BYRE_API FirstUse {
 public:
  FirstUse() noexcept;
  ~FirstUse();
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;
};

}  // namespace byre::inline v0::sync::detail
