// SPDX-License-Identifier: BSL-1.0
/// Guards add keys to every call of a thread, or remove keys from it, as long as the guard lives.
/// Passes use them to call the operators below. A guard must be destroyed on its thread, in reverse
/// order of construction. Cost: O(1). Nothing throws.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/key.hpp>

#include <cstdint>

namespace byre::inline v0::functional {

/// The state of a thread's guards.
struct ThreadKeys {
  KeySet included;
  KeySet excluded;
  /// The level of the innermost vmap() whose function this thread runs; 0 outside of vmap().
  std::uint64_t batch_level = 0;
};

/// Returns a copy of the calling thread's state. Only guards change the state.
BYRE_API ThreadKeys thread_keys() noexcept;

/// Returns whether a pass made the current call. Passes accept any strides, so a kernel may return
/// a lazy clone of a part of a tensor instead of a packed copy.
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

/// Removes keys from calls, even if their tensors have them. A pass calls the level below it this
/// way.
class ExcludeKeys : ThreadKeysScope {
 public:
  explicit ExcludeKeys(KeySet keys) noexcept : ExcludeKeys(keys, thread_keys()) {}

 private:
  ExcludeKeys(KeySet keys, const ThreadKeys& now) noexcept
      : ThreadKeysScope({now.included.without(keys), now.excluded | keys, now.batch_level}) {}
};

}  // namespace byre::inline v0::functional
