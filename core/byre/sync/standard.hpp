// SPDX-License-Identifier: BSL-1.0
/// sync::Standard: the seam of builds with the Meson option sync=standard, over std::atomic,
/// std::mutex and std::condition_variable. It needs no Boost.
#pragma once

#include <byre/sync/detail/native.hpp>

#include <atomic>

namespace byre::inline BYRE_ABI::sync {

namespace detail {

struct StandardAtomics {
  template <class Value>
  using Atomic = std::atomic<Value>;

  [[gnu::always_inline]] static constexpr std::memory_order order(
      std::memory_order order) noexcept {
    return order;
  }
};

}  // namespace detail

struct BYRE_API Standard : detail::Native<detail::StandardAtomics> {};

static_assert(Sync<Standard>);

}  // namespace byre::inline BYRE_ABI::sync
