// SPDX-License-Identifier: BSL-1.0
/// Guards: keys that a thread adds to every call it makes, or leaves out, for as long as a guard
/// lives.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/key.hpp>

#include <cstdint>

namespace byre::inline v0::functional {

/// What guards of this thread say.
struct ThreadKeys {
  KeySet included;
  KeySet excluded;
  /// The level of the innermost vmap() whose function this thread runs; 0 outside of all.
  std::uint64_t batch_level = 0;
};

/// Reads as a value; guards alone change it.
BYRE_API ThreadKeys thread_keys() noexcept;

/// Whether a pass called on, which takes values of any strides: a kernel may then return a lazy
/// clone that sees a part of more, where a program is given a contiguous tensor of its own.
inline bool is_below_passes() noexcept {
  return thread_keys().excluded.has(Key::functionalize);
}

namespace detail {
BYRE_API void set_thread_keys(ThreadKeys keys) noexcept;
}

/// `keys` hold for as long as this lives. Scopes nest, each on its thread.
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

/// Calls go to these keys too, those that make tensors of nothing included.
class IncludeKeys : ThreadKeysScope {
 public:
  explicit IncludeKeys(KeySet keys) noexcept : IncludeKeys(keys, thread_keys()) {}

 private:
  IncludeKeys(KeySet keys, const ThreadKeys& now) noexcept
      : ThreadKeysScope({now.included | keys, now.excluded.without(keys), now.batch_level}) {}
};

/// Calls do not go to these keys, whatever their tensors have: how a pass calls what is below it.
class ExcludeKeys : ThreadKeysScope {
 public:
  explicit ExcludeKeys(KeySet keys) noexcept : ExcludeKeys(keys, thread_keys()) {}

 private:
  ExcludeKeys(KeySet keys, const ThreadKeys& now) noexcept
      : ThreadKeysScope({now.included.without(keys), now.excluded | keys, now.batch_level}) {}
};

}  // namespace byre::inline v0::functional
