// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/detail/report_book.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0::shadow::detail {
namespace {

struct CallSites {
  using Numbers = std::map<std::pair<std::string, std::uint32_t>, SiteId>;

  boost::mutex mutex;
  Numbers numbers;
  std::vector<CallSite> sites;  ///< by number; their names are those in `numbers`
};

CallSites& call_sites() noexcept {
  return sync::no_destructor<CallSites>();
}

}  // namespace

SiteId site_id(const CallSite& site) noexcept {
  auto& all = call_sites();
  try {
    const boost::lock_guard<boost::mutex> lock(all.mutex);
    if (all.sites.size() == all.sites.capacity()) {
      all.sites.reserve(2 * all.sites.size() + 16);  // first, so that what comes after cannot fail
    }
    const auto [kept, is_new] = all.numbers.try_emplace({site.file, site.line});
    if (is_new) {
      all.sites.push_back({kept->first.first.c_str(), site.line});
      kept->second = static_cast<SiteId>(all.sites.size());
    }
    return kept->second;
  } catch (const std::exception&) {
    return 0;
  }
}

CallSite site_at(SiteId id) noexcept {
  auto& all = call_sites();
  const boost::lock_guard<boost::mutex> lock(all.mutex);
  return id == 0 ? CallSite{} : all.sites[id - 1];
}

}  // namespace byre::inline v0::shadow::detail
