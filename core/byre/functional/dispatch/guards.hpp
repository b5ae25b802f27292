// SPDX-License-Identifier: BSL-1.0
/// A guard adds keys to all calls of its thread, or removes keys from them, until the guard is
/// destroyed. A pass uses guards to call the kernels of lower keys. Guards must be destroyed on
/// their thread, in reverse order of construction. Nothing in this header throws. Cost: O(1).
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/key.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::functional {

/// The state of a thread's guards.
struct ThreadKeys {
  KeySet included;
  KeySet excluded;
  /// The level of the innermost vmap() whose function this thread runs; 0 outside of vmap().
  std::uint64_t batch_level = 0;
};

/// Returns a copy of the calling thread's state. Only guards change the state.
BYRE_API ThreadKeys thread_keys() noexcept;

/// Returns whether the functionalize pass made the current call. The pass accepts any strides, so a
/// kernel may return a lazy clone of a part of a tensor instead of a contiguous copy.
inline bool is_below_passes() noexcept {
  return thread_keys().excluded.has(Key::functionalize);
}

namespace detail {
BYRE_API void set_thread_keys(ThreadKeys keys) noexcept;
}

/// Replaces the thread's state as long as this object lives.
class ThreadKeysScope {
 public:
  explicit ThreadKeysScope(ThreadKeys keys) noexcept : before_(thread_keys()) {
    detail::set_thread_keys(keys);
  }
  ThreadKeysScope(const ThreadKeysScope&) = delete;
  ThreadKeysScope& operator=(const ThreadKeysScope&) = delete;
  ~ThreadKeysScope() { detail::set_thread_keys(before_); }

 private:
  const ThreadKeys before_;
};

/// Adds keys to calls, including calls without tensors.
class IncludeKeys : ThreadKeysScope {
 public:
  explicit IncludeKeys(KeySet keys) noexcept : IncludeKeys(keys, thread_keys()) {}

 private:
  IncludeKeys(KeySet keys, const ThreadKeys& now) noexcept
      : ThreadKeysScope({now.included | keys, now.excluded.without(keys), now.batch_level}) {}
};

/// Removes keys from calls, even if the tensors of the calls have these keys. A pass removes its
/// own key to call the kernels of lower keys.
class ExcludeKeys : ThreadKeysScope {
 public:
  explicit ExcludeKeys(KeySet keys) noexcept : ExcludeKeys(keys, thread_keys()) {}

 private:
  ExcludeKeys(KeySet keys, const ThreadKeys& now) noexcept
      : ThreadKeysScope({now.included.without(keys), now.excluded | keys, now.batch_level}) {}
};

}  // namespace byre::inline BYRE_ABI::functional
