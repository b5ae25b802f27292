// SPDX-License-Identifier: BSL-1.0
/// sync::Boost: the seam of builds with the Meson option sync=boost, over Boost.Atomic and
/// Boost.Thread.
#pragma once

#include <byre/sync/detail/native.hpp>

#include <boost/atomic/atomic.hpp>

namespace byre::inline BYRE_ABI::sync {

namespace detail {

struct BoostAtomics {
  template <class Value>
  using Atomic = boost::atomic<Value>;

  [[gnu::always_inline]] static constexpr boost::memory_order order(
      std::memory_order order) noexcept {
    switch (order) {
      case std::memory_order::relaxed:
        return boost::memory_order_relaxed;
      case std::memory_order::consume:
      case std::memory_order::acquire:
        return boost::memory_order_acquire;
      case std::memory_order::release:
        return boost::memory_order_release;
      case std::memory_order::acq_rel:
        return boost::memory_order_acq_rel;
      case std::memory_order::seq_cst:
        return boost::memory_order_seq_cst;
    }
    return boost::memory_order_seq_cst;
  }
};

}  // namespace detail

struct BYRE_API Boost : detail::Native<detail::BoostAtomics> {};

static_assert(Sync<Boost>);

}  // namespace byre::inline BYRE_ABI::sync
