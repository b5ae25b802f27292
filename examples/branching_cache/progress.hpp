// SPDX-License-Identifier: BSL-1.0
/// Says on a terminal what is being done, on a line that is gone at the end; nothing elsewhere.
#pragma once

#include <unistd.h>
#include <cstdio>
#include <string>

namespace examples::branching_cache {

class Progress {
 public:
  ~Progress() { say(""); }

  void say(const std::string& text) const {
    if (on_terminal_) {
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
      std::fflush(stderr);
    }
  }

 private:
  bool on_terminal_ = isatty(fileno(stderr)) != 0;
};

}  // namespace examples::branching_cache
