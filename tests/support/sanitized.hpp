// SPDX-License-Identifier: BSL-1.0
/// The sanitizer that this program is built with, if any.
#pragma once

#include <byre/memory/detail/thread_cache.hpp>

#include <cstddef>

namespace byre::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool is_thread_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool is_thread_sanitized = true;
#else
inline constexpr bool is_thread_sanitized = false;
#endif
#else
inline constexpr bool is_thread_sanitized = false;
#endif

inline constexpr bool is_address_sanitized = watched_by_address_sanitizer;
inline constexpr bool is_sanitized = is_thread_sanitized || is_address_sanitized;

/// Whether a child of a fork may allocate if other threads of its parent were allocating. The
/// malloc of sanitizers before LLVM 17 leaves its locks held in the child.
inline constexpr bool heap_outlives_forks = !is_sanitized;

/// The number of repetitions: `times`, or an eighth of it under a sanitizer, which slows programs
/// by a factor of 10 to 50.
constexpr std::size_t fewer_if_sanitized(std::size_t times) {
  return is_sanitized ? times / 8 : times;
}

}  // namespace byre::test
