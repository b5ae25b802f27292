// SPDX-License-Identifier: BSL-1.0
/// Objects whose destructor never runs and that need no heap: one of each type, made on first use,
/// since threads and statics may use them until the program ends.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace byre::inline v0::sync {

/// The one default-constructed Object. Initialized at compile time where Object allows.
template <class Object>
Object& no_destructor() noexcept {
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
