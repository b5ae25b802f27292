// SPDX-License-Identifier: BSL-1.0
#include "hang.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace byre::stress {
namespace {

/// 64 MiB in a sanitized build on a busy machine take seconds.
constexpr std::chrono::seconds longest_operation{120};

}  // namespace

Hang::Hang(std::string workload, Settings settings)
    : workload_(std::move(workload)), settings_(std::move(settings)) {}

void Hang::look(std::uint64_t done,
                const std::function<std::vector<std::string>()>& last_operations) {
  const auto now = Clock::now();
  if (done != done_) {
    done_ = done;
    since_ = now;
  } else if (now - since_ > longest_operation) {
    std::fprintf(stderr, "\nbyre-stress: no operation ended for %lld s: some thread hangs.\n",
                 static_cast<long long>(longest_operation.count()));
    for (const std::string& line : last_operations()) {
      std::fprintf(stderr, "  %s\n", line.c_str());
    }
    std::fprintf(stderr, "again: %s\n", command_of(workload_, settings_).c_str());
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace byre::stress
