// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/place.hpp>
#include <byre/shadow/unaudited.hpp>

#include <map>
#include <string_view>
#include <utility>

namespace byre::inline v0::shadow {

std::vector<UnauditedLine> detail::unaudited_lines() {
  // A line has a place for each reshape that tensors come to it from.
  std::map<std::pair<std::string_view, std::uint32_t>, UnauditedLine> lines;
  visit_escapes([&](const CallSite& site, const Tally& escapes) {
    if (const std::uint64_t times = escapes.count(); times != 0) {
      UnauditedLine& line = lines[{site.file, site.line}];
      line = {site, line.times + times};
    }
  });
  std::vector<UnauditedLine> all;
  all.reserve(lines.size());
  for (const auto& [name, line] : lines) {
    all.push_back(line);
  }
  return all;
}

void detail::reset_unaudited_lines() noexcept {
  visit_escapes([](const CallSite&, Tally& escapes) { escapes.clear(); });
}

}  // namespace byre::inline v0::shadow
