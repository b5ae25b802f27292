// SPDX-License-Identifier: BSL-1.0
#include "step_log.hpp"

#include <algorithm>

namespace byre::stress::races {

// Relaxed throughout: what one thread records tells nothing of the others.

void StepLog::record(unsigned thread, std::uint64_t round, const char* step) noexcept {
  OfThread& own = threads_[thread];
  const bool is_first = own.round.load(boost::memory_order_relaxed) != round;
  const std::uint64_t count = is_first ? 0 : own.count.load(boost::memory_order_relaxed);
  own.last[static_cast<std::size_t>(count % own.last.size())].store(step,
                                                                    boost::memory_order_relaxed);
  own.round.store(round, boost::memory_order_relaxed);
  own.count.store(count + 1, boost::memory_order_relaxed);
}

std::vector<std::string> StepLog::lines() const {
  std::vector<std::string> lines;
  for (const OfThread& one : threads_) {
    const std::uint64_t count = one.count.load(boost::memory_order_relaxed);
    std::string line = "thread " + std::to_string(lines.size()) + ", round " +
                       std::to_string(one.round.load(boost::memory_order_relaxed)) + ":";
    for (std::uint64_t at = count - std::min<std::uint64_t>(count, one.last.size()); at < count;
         ++at) {
      const auto& recorded = one.last[static_cast<std::size_t>(at % one.last.size())];
      if (const char* step = recorded.load(boost::memory_order_relaxed)) {
        line += std::string(line.back() == ':' ? " " : ", ") + step;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace byre::stress::races
