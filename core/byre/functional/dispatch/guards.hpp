// SPDX-License-Identifier: BSL-1.0
/// Guards: keys that a thread adds to every call it makes, or leaves out, for as long as a guard
/// lives.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/key.hpp>

namespace byre::inline v0::functional {

/// What guards of this thread say.
struct ThreadKeys {
  KeySet included;
  KeySet excluded;
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

/// Calls go to these keys too, those that make tensors of nothing included. Nests; stays on its
/// thread.
class IncludeKeys {
 public:
  explicit IncludeKeys(KeySet keys) noexcept : before_(thread_keys()) {
    detail::set_thread_keys({before_.included | keys, before_.excluded.without(keys)});
  }
  IncludeKeys(const IncludeKeys&) = delete;
  IncludeKeys& operator=(const IncludeKeys&) = delete;
  ~IncludeKeys() { detail::set_thread_keys(before_); }

 private:
  const ThreadKeys before_;
};

/// Calls do not go to these keys, whatever their tensors have: how a pass calls what is below it.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(KeySet keys) noexcept : before_(thread_keys()) {
    detail::set_thread_keys({before_.included.without(keys), before_.excluded | keys});
  }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;
  ~ExcludeKeys() { detail::set_thread_keys(before_); }

 private:
  const ThreadKeys before_;
};

}  // namespace byre::inline v0::functional
