// SPDX-License-Identifier: BSL-1.0
#include "stalls.hpp"

#include <algorithm>
#include <ctime>

namespace examples::live_checkpoint {
namespace {

/// Of the costliest snapshot.
std::int64_t worst_sum_ns(const StallLog& log) {
  const auto& events = log.events();
  const auto& first = log.first_events();
  std::int64_t worst = 0;
  for (std::size_t snapshot = 0; snapshot < first.size(); ++snapshot) {
    const std::size_t end = snapshot + 1 < first.size() ? first[snapshot + 1] : events.size();
    std::int64_t sum = 0;
    for (std::size_t event = first[snapshot]; event < end; ++event) {
      sum += events[event].ns;
    }
    worst = std::max(worst, sum);
  }
  return worst;
}

}  // namespace

std::int64_t StallLog::processor_time_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

StallSummary summarize(const StallLog& log) {
  StallSummary summary;
  std::vector<std::int64_t> sorted_ns;
  for (const StallLog::Event& event : log.events()) {
    sorted_ns.push_back(event.ns);
    summary.total_ns += event.ns;
    summary.worst_processor_ns = std::max(summary.worst_processor_ns, event.processor_ns);
  }
  std::sort(sorted_ns.begin(), sorted_ns.end());
  summary.events = sorted_ns.size();
  if (!sorted_ns.empty()) {
    summary.worst_ns = sorted_ns.back();
    summary.percentile_99_ns = sorted_ns[(sorted_ns.size() * 99 + 99) / 100 - 1];
  }
  summary.worst_snapshot_ns = worst_sum_ns(log);
  return summary;
}

}  // namespace examples::live_checkpoint
