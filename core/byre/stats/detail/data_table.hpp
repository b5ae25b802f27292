// SPDX-License-Identifier: BSL-1.0
/// What a recording knows of data by its address: the lines that cloned it, the copy of it that ended last, and
/// whether it is an overlay.
#pragma once

#include <byre/stats/detail/records.hpp>

#include <map>

namespace byre::inline v0::stats::detail {

struct KnownData {
  std::uint32_t number = 0;
  ClonedLines cloned_at{};
  Link last_clone;
  Link last_copy;  ///< of this data; its time is that of its end
  std::int64_t last_copy_begin_ns = 0;
  Link own_since;  ///< the write that one owner has this data alone by; its time is that of its end
  std::int64_t own_begin_ns = 0;
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
