// SPDX-License-Identifier: BSL-1.0
/// Numbers for call sites: records store a number to stay small and to outlive the library that
/// contains the caller. Lists of the lines that cloned data.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <array>
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

/// A source line that cloned data, and the number of clones.
struct ClonedAt {
  SiteId site = 0;
  std::uint32_t count = 0;

  friend bool operator==(const ClonedAt&, const ClonedAt&) = default;
};
/// The lines that cloned some data since it was last unique, latest first. Older lines are dropped
/// if there are too many.
using ClonedLines = std::array<ClonedAt, 4>;

/// Adds `count` to a line and moves the line to the front of `lines`. If `lines` is full and lacks
/// the line, replaces the last line.
void add_line(ClonedLines& lines, SiteId site, std::uint32_t count = 1) noexcept;
/// Adds the lines that cloned a whole, a node of a tile tree, to the lines of one of its children.
void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept;

}  // namespace byre::inline BYRE_ABI::stats::detail
