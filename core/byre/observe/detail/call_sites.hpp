// SPDX-License-Identifier: BSL-1.0
/// Call sites by numbers, for records that are to be small, and that outlive the caller's library.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstdint>

namespace byre::inline v0::stats::detail {

/// A call site by its number; 0 is one that is not known. Each is kept once and for good, and so is
/// the name of its file: the caller's may go away.
using SiteId = std::uint32_t;
/// The number of the site. 0 if there is no memory. Thread-safe; locks.
BYRE_API SiteId site_id(const CallSite& site) noexcept;
/// The site of a number that site_id gave. Thread-safe; locks.
BYRE_API CallSite site_at(SiteId id) noexcept;
/// The same site, with a name of its file that stays; {"?", 0} if there is no memory.
inline CallSite interned_site(const CallSite& site) noexcept {
  return site_at(site_id(site));
}

}  // namespace byre::inline v0::stats::detail
