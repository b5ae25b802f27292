// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"

#include <csignal>
#include <system_error>

namespace examples {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void record(int signal) {
  received_signal = signal;
}

}  // namespace

void fail_with_error(const std::string& what, int error) {
  throw Failure(what + ": " + std::generic_category().message(error) + ".");
}

void record_signals() noexcept {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // Who ignored it before (nohup does) goes on ignoring it.
    if (std::signal(signal, record) == SIG_IGN) {
      std::signal(signal, SIG_IGN);
    }
  }
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
}

void throw_if_interrupted() {
  if (received_signal != 0) {
    throw Interrupted(received_signal);
  }
}

}  // namespace examples
