// SPDX-License-Identifier: BSL-1.0
/// The call sites that reports may name, each kept once and for good. Names of files are copied: the
/// caller's may go away.
#pragma once

#include <byre/error/call_site.hpp>

#include <cstdint>

namespace byre::inline v0::shadow::detail {

/// A call site by its number; 0 is one that is not known.
using SiteId = std::uint32_t;

/// The number of the site. 0 if there is no memory. Thread-safe; locks.
SiteId site_id(const CallSite& site) noexcept;
/// The site of a number that site_id gave, with a name of its file that stays. Thread-safe; locks.
CallSite site_at(SiteId id) noexcept;

/// The same site, with a name of its file that stays; {"?", 0} if there is no memory.
inline CallSite keep_site(const CallSite& site) noexcept {
  return site_at(site_id(site));
}

}  // namespace byre::inline v0::shadow::detail
