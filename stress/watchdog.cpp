// SPDX-License-Identifier: BSL-1.0
#include "watchdog.hpp"

#include <cstdlib>
#include <string>

namespace byre::stress {

void Watchdog::observe(std::uint64_t done) {
  const auto now = Clock::now();
  if (done != done_) {
    done_ = done;
    since_ = now;
  } else if (now - since_ > hang_timeout_) {
    crash_handler_.report(("no operation ended for " + std::to_string(hang_timeout_.count()) +
                           " seconds: some thread hangs")
                              .c_str());
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace byre::stress
