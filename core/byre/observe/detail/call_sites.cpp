// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/detail/call_sites.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace byre::inline BYRE_ABI::stats {
namespace {

using Site = std::pair<std::string_view, std::uint32_t>;

/// All call sites, stored permanently. New map entries are allocated without the lock, because a
/// user's operator new may use byre.
struct CallSites {
  sync::ProcessMutex mutex;
  std::map<detail::SiteId, std::pair<std::string, std::uint32_t>> sites;
  std::map<Site, detail::SiteId> numbers;  ///< the keys refer to the names in `sites`
};

}  // namespace

detail::SiteId detail::site_id(const CallSite& site) noexcept try {
  auto& all = sync::no_destructor<CallSites>();
  decltype(CallSites::sites) spare;
  decltype(CallSites::numbers) numbered;
  for (;;) {
    {
      const sync::ProcessLock lock(all.mutex);
      const auto known = all.numbers.find({site.file, site.line});
      if (known != all.numbers.end()) {
        return known->second;
      }
      if (!spare.empty()) {
        const auto number = static_cast<SiteId>(all.sites.size() + 1);
        auto node = spare.extract(spare.begin());
        node.key() = number;
        all.sites.insert(std::move(node));
        numbered.begin()->second = number;
        all.numbers.merge(numbered);
        return number;
      }
    }
    const auto& [file, line] = spare.try_emplace(0, site.file, site.line).first->second;
    numbered.try_emplace({file, line}, 0);
  }
} catch (const std::exception&) {
  return 0;
}

CallSite detail::site_at(SiteId id) noexcept {
  auto& all = sync::no_destructor<CallSites>();
  const sync::ProcessLock lock(all.mutex);
  const auto found = all.sites.find(id);
  return found == all.sites.end() ? CallSite{}
                                  : CallSite{found->second.first.c_str(), found->second.second};
}

void detail::add_line(ClonedLines& lines, SiteId site, std::uint32_t count) noexcept {
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

void detail::add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept {
  for (auto line = whole.rbegin(); line != whole.rend(); ++line) {
    if (line->count != 0) {
      add_line(lines, line->site, 0);
      lines.front().count = std::max(lines.front().count, line->count);
    }
  }
}

}  // namespace byre::inline BYRE_ABI::stats
