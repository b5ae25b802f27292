// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/detail/data_table.hpp>

#include <algorithm>

namespace byre::inline v0::stats::detail {

void add_line(ClonedLines& lines, SiteId site, std::uint32_t count) noexcept {
  auto place = std::find_if(lines.begin(), lines.end(),
                            [site](const ClonedAt& line) { return line.site == site; });
  if (place == lines.end()) {
    --place;
    *place = ClonedAt{};
  }
  place->site = site;
  place->count += count;
  std::rotate(lines.begin(), place, place + 1);
}

void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept {
  for (auto line = whole.rbegin(); line != whole.rend(); ++line) {
    if (line->count != 0) {
      add_line(lines, line->site, 0);
      lines.front().count = std::max(lines.front().count, line->count);
    }
  }
}

}  // namespace byre::inline v0::stats::detail
