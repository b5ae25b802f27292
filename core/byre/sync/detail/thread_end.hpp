// SPDX-License-Identifier: BSL-1.0
/// What a thread leaves in order at its end. Not by destructors of thread-local objects: registering one
/// ends the program where memory is out, and keeps a library loaded until the thread ends.
#pragma once

#include <cstdint>

namespace byre::inline v0::sync::detail {

/// What one thread does at its end, which comes after its thread-local objects' destructors. A
/// thread-local variable of the library.
class AtThreadEnd {
 public:
  using Action = void (*)() noexcept;

  constexpr explicit AtThreadEnd(Action action) noexcept : action_(action) {}

  /// By its thread: has the action called when the thread ends, or when it unloads the library. False if
  /// the thread has ended, or the system has no memory or no key for it. Once it was true it remains so
  /// until the action is called. Locks once.
  bool ensure() noexcept { return next_ != nullptr || add(); }

 private:
  friend class ThreadEnds;
  bool add() noexcept;

  Action action_;
  AtThreadEnd* next_ = nullptr;  // of the thread; the last points to itself
};

}  // namespace byre::inline v0::sync::detail
