// SPDX-License-Identifier: BSL-1.0
/// Objects that live as long as the program and need no heap: one of each type, made on first use
/// and never destroyed, since threads and statics may use them to the very end.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace byre::inline v0::sync {

/// The one default-constructed Object. Initialized at compile time where Object allows.
template <class Object>
Object& immortal() noexcept {
  if constexpr (std::is_trivially_destructible_v<Object>) {
    static Object object;
    return object;
  } else {
    alignas(Object) static std::byte place[sizeof(Object)];
    static Object& object = *::new (place) Object;
    return object;
  }
}

}  // namespace byre::inline v0::sync
