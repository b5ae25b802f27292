// SPDX-License-Identifier: BSL-1.0
/// Numbers for call sites: records store a number to stay small and to outlive the library that
/// contains the caller.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::stats::detail {

/// The number of a call site; 0 means that the call site is unknown. byre stores each call site
/// once, permanently, with a copy of its file name, because the caller's string may be destroyed.
using SiteId = std::uint32_t;
/// The number of a call site, or 0 if there is no memory. Thread-safe; takes a lock.
BYRE_API SiteId site_id(const CallSite& site) noexcept;
/// The call site of a number that site_id() returned. Thread-safe; takes a lock.
BYRE_API CallSite site_at(SiteId id) noexcept;
/// The call site with a permanent copy of its file name; {"?", 0} if there is no memory.
inline CallSite interned_site(const CallSite& site) noexcept {
  return site_at(site_id(site));
}

}  // namespace byre::inline BYRE_ABI::stats::detail
