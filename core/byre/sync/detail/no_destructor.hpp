// SPDX-License-Identifier: BSL-1.0
/// Objects whose destructor never runs and that need no heap: one of each type, made on first use,
/// since threads and statics may use them until the program ends.
#pragma once

#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/published.hpp>

#include <cstddef>
#include <new>

namespace byre::inline v0::sync {

namespace detail {

/// What the constructor throws is thrown, and the next use tries again.
template <class Object>
[[gnu::cold, gnu::noinline]] inline Object& make_once(Published<Object>& made, std::byte* place) {
  const FirstUse lock;
  if (Object* const object = made.get()) {
    return *object;
  }
  auto* const object = ::new (place) Object;
  made.set(object);
  return *object;
}

}  // namespace detail

/// The one default-constructed Object of the process. Not under a ProcessMutex, where it may be the
/// first use. Not a static of the function: a fork in the middle of its initialization would leave the
/// child one that nobody goes on with. Locks at the first use; wait-free later.
template <class Object>
inline Object& no_destructor() {
  alignas(Object) constinit static std::byte place[sizeof(Object)]{};
  constinit static detail::Published<Object> made;
  Object* const object = made.get();
  return object != nullptr ? *object : detail::make_once(made, place);
}

}  // namespace byre::inline v0::sync
