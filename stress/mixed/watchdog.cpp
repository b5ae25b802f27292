// SPDX-License-Identifier: BSL-1.0
#include "hang.hpp"

#include <cstdlib>
#include <string>

namespace byre::stress {

void Hang::look(std::uint64_t done) {
  const auto now = Clock::now();
  if (done != done_) {
    done_ = done;
    since_ = now;
  } else if (now - since_ > patience_) {
    last_words_.say(("no operation ended for " + std::to_string(patience_.count()) +
                     " seconds: some thread hangs")
                        .c_str());
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace byre::stress
