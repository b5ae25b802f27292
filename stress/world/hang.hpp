// SPDX-License-Identifier: BSL-1.0
/// Notices that a run has stopped getting anywhere, and ends the program with a report of it: its
/// threads cannot be ended otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../settings.hpp"

namespace byre::stress {

class Hang {
 public:
  Hang(std::string workload, Settings settings);

  /// Every now and then: `done` operations are done. Ends the program if it has been the same number
  /// for longer than any operation takes, telling what each thread did last.
  void look(std::uint64_t done, const std::function<std::vector<std::string>()>& last_operations);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string workload_;
  const Settings settings_;
  std::uint64_t done_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace byre::stress
