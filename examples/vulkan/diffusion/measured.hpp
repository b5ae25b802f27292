// SPDX-License-Identifier: BSL-1.0
/// Times that were measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::diffusion {

/// Nanoseconds, a number for each time that something was done.
struct Series {
  std::vector<std::int64_t> ns;

  /// 0 of none, as both below.
  std::int64_t median() const {
    if (ns.empty()) {
      return 0;
    }
    std::vector<std::int64_t> sorted = ns;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
  std::int64_t least() const { return ns.empty() ? 0 : *std::min_element(ns.begin(), ns.end()); }
  std::int64_t most() const { return ns.empty() ? 0 : *std::max_element(ns.begin(), ns.end()); }
};

using Clock = std::chrono::steady_clock;

inline std::int64_t ns_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace examples::diffusion
