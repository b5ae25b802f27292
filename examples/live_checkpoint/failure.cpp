// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"

#include <csignal>
#include <system_error>

namespace live_checkpoint {
namespace {

volatile std::sig_atomic_t noted_signal = 0;

void note(int signal) {
  noted_signal = signal;
}

}  // namespace

void fail_with_error(const std::string& what, int error) {
  throw Failure(what + ": " + std::generic_category().message(error) + ".");
}

void note_signals() noexcept {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
#if defined(SIGHUP)
  std::signal(SIGHUP, note);
#endif
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);
#endif
}

void throw_if_interrupted() {
  if (noted_signal != 0) {
    throw Interrupted(noted_signal);
  }
}

}  // namespace live_checkpoint
