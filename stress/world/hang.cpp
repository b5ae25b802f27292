// SPDX-License-Identifier: BSL-1.0
#include "hang.hpp"

#include <cstdlib>

namespace byre::stress {
namespace {

/// 64 MiB in a sanitized build on a busy machine take seconds.
constexpr std::chrono::seconds longest_operation{120};

}  // namespace

void Hang::look(std::uint64_t done) {
  const auto now = Clock::now();
  if (done != done_) {
    done_ = done;
    since_ = now;
  } else if (now - since_ > longest_operation) {
    last_words_.say("no operation ended for two minutes: some thread hangs");
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace byre::stress
