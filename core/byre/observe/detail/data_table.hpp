// SPDX-License-Identifier: BSL-1.0
/// What a recording knows of data by its address: the lines that cloned it, the writes that others may wait for, and
/// whether it is an overlay.
#pragma once

#include <byre/observe/detail/records.hpp>

#include <map>

namespace byre::inline v0::stats::detail {

/// A copy, a steal or an overlay.
struct Write {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t thread = 0;
  SiteId site = 0;
};

struct KnownData {
  std::uint32_t number = 0;
  ClonedLines cloned_at{};
  Link last_clone;
  Write last_copy;                  ///< of this data
  Write own_since;                  ///< that one owner has this data alone by
  std::size_t nbytes = 0;           ///< of an overlay
  WrittenNbytes written = nullptr;  ///< of an overlay
};

/// By address. A node is made while nothing is locked, and is what an entry of a new address needs.
using DataTable = std::map<const void*, KnownData>;

/// Counts a line, and puts it first in `lines`; the last one goes where there are too many.
void add_line(ClonedLines& lines, SiteId site, std::uint32_t count = 1) noexcept;

/// Has the lines of what `lines` is a part of.
void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept;

}  // namespace byre::inline v0::stats::detail
