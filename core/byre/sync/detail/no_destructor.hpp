// SPDX-License-Identifier: BSL-1.0
/// no_destructor(): global objects that are constructed on first use and never destroyed, because
/// threads and destructors of statics may use them until the program ends. They need no heap.
#pragma once

#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/published.hpp>

#include <cstddef>
#include <new>

namespace byre::inline BYRE_ABI::sync {

namespace detail {

/// Constructs the object unless another thread has done so. Throws what the constructor throws; the
/// next use then tries again.
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

/// The only Object of the process. The first call default-constructs it, under a lock; later calls
/// are wait-free. Requires that the first call is not made while the thread holds a ProcessMutex.
///
/// It is not a static of the function: if another thread forked during the initialization of a
/// static, the child would wait forever for that initialization to end.
template <class Object>
inline Object& no_destructor() {
  alignas(Object) constinit static std::byte place[sizeof(Object)]{};
  constinit static detail::Published<Object> made;
  Object* const object = made.get();
  return object != nullptr ? *object : detail::make_once(made, place);
}

}  // namespace byre::inline BYRE_ABI::sync
