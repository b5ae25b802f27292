// SPDX-License-Identifier: BSL-1.0
/// AtThreadEnd: an action that the library runs at the end of a thread. It replaces destructors of
/// thread-local objects: registering such a destructor ends the program if memory is exhausted, and
/// keeps a library loaded until the thread ends.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

/// An action at the end of one thread, after the destructors of its thread-local objects. Instances
/// are thread-local variables of the library.
class AtThreadEnd {
 public:
  using Action = void (*)() noexcept;

  constexpr explicit AtThreadEnd(Action action) noexcept : action_(action) {}

  /// Call this function in the thread itself. Registers the action, unless it is registered
  /// already. The action is then called once, when the thread ends, or when this thread unloads the
  /// library. Returns false if the actions of the thread have already been called, or if the system
  /// lacks memory or a free key. Once this function has returned true, it returns true until the
  /// action is called. Takes a lock only to register the action.
  bool ensure_registered() noexcept { return next_ != nullptr || add(); }

 private:
  friend class ThreadEnds;
  bool add() noexcept;

  Action action_;
  AtThreadEnd* next_ = nullptr;  // registered before this action; the first points to itself
};

}  // namespace byre::inline BYRE_ABI::sync::detail
