// SPDX-License-Identifier: BSL-1.0
/// Tells AddressSanitizer that idle memory is nobody's, so that it reports a use after release of
/// recycled memory as it would of freed memory.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BYRE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BYRE_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(BYRE_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace byre::inline v0 {

#if defined(BYRE_ADDRESS_SANITIZER)
inline constexpr bool watched_by_address_sanitizer = true;
#else
inline constexpr bool watched_by_address_sanitizer = false;
#endif

inline void poison([[maybe_unused]] const void* address,
                   [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(BYRE_ADDRESS_SANITIZER)
  __asan_poison_memory_region(address, nbytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* address,
                     [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(BYRE_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(address, nbytes);
#endif
}

}  // namespace byre::inline v0
