// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"

#include <atomic>
#include <csignal>
#include <system_error>

namespace examples {
namespace {

/// Of the last signal to end by, or 0. The program asks for it on any thread.
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "or a handler could wait for itself");

void record(int signal) {
  received_signal.store(signal, std::memory_order_relaxed);
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
  const int signal = received_signal.load(std::memory_order_relaxed);
  if (signal != 0) {
    throw Interrupted(signal);
  }
}

}  // namespace examples
