// SPDX-License-Identifier: BSL-1.0
#include "stalls.hpp"

#include <algorithm>
#include <numeric>

namespace live_checkpoint {

StallSummary summarize(const StallLog& log) {
  std::vector<std::int64_t> events = log.events_ns();
  StallSummary summary;
  summary.events = events.size();
  if (events.empty()) {
    return summary;
  }
  const auto& first = log.first_events();
  for (std::size_t snapshot = 0; snapshot < first.size(); ++snapshot) {
    const std::size_t end = snapshot + 1 < first.size() ? first[snapshot + 1] : events.size();
    const std::int64_t sum =
        std::accumulate(&events[0] + first[snapshot], &events[0] + end, std::int64_t{0});
    summary.worst_snapshot_ns = std::max(summary.worst_snapshot_ns, sum);
  }
  std::sort(events.begin(), events.end());
  summary.worst_ns = events.back();
  summary.percentile_99_ns = events[(events.size() * 99 + 99) / 100 - 1];
  summary.total_ns = std::accumulate(events.begin(), events.end(), std::int64_t{0});
  return summary;
}

}  // namespace live_checkpoint
