// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/unaudited.hpp>
#include <byre/sync/immortal.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

struct Times {
  Tally all;
  std::uint64_t before_reset = 0;

  std::uint64_t since_reset() const noexcept { return all.count() - before_reset; }
};

/// Families keep pointers to what is in it: nothing is taken out.
struct Lines {
  boost::mutex mutex;
  std::map<std::pair<std::string_view, std::uint32_t>, Times> times;
};

}  // namespace

Tally* detail::unaudited_line(const CallSite& site) noexcept {
  auto& lines = sync::immortal<Lines>();
  const boost::lock_guard<boost::mutex> lock(lines.mutex);
  try {
    return &lines.times[{site.file, site.line}].all;
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::vector<UnauditedLine> detail::unaudited_lines() {
  auto& lines = sync::immortal<Lines>();
  const boost::lock_guard<boost::mutex> lock(lines.mutex);
  std::vector<UnauditedLine> all;
  for (const auto& [line, times] : lines.times) {
    if (const std::uint64_t count = times.since_reset(); count != 0) {
      all.push_back({{line.first.data(), line.second}, count});
    }
  }
  return all;
}

void detail::reset_unaudited_lines() noexcept {
  auto& lines = sync::immortal<Lines>();
  const boost::lock_guard<boost::mutex> lock(lines.mutex);
  for (auto& [line, times] : lines.times) {
    times.before_reset = times.all.count();
  }
}

}  // namespace byre::inline v0::shadow
