// SPDX-License-Identifier: BSL-1.0
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "../relacy/execution.hpp"
#include "job.hpp"

namespace byre::verification {
namespace {

int captured_file = -1;
off_t captured_end = 0;
std::array<char, 1024> captured_text;

/// What was written since the last crash.
std::string_view newly_captured() noexcept {
  const ssize_t size =
      pread(captured_file, captured_text.data(), captured_text.size() - 1, captured_end);
  if (size <= 0) {
    return {};
  }
  captured_end += size;
  std::string_view text(captured_text.data(), static_cast<std::size_t>(size));
  while (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  captured_text[text.size()] = '\0';
  return text;
}

void on_signal(int signal) {
  const std::string_view text = newly_captured();
  const Verdict verdict = text.starts_with("RELACY")  ? Verdict::checker_error
                          : text.starts_with("byre:") ? Verdict::core_assertion
                                                      : Verdict::crash;
  // Out of the handler and away from the thread that crashed, for good.
  if (rl::is_ctx() && rl::ctx().threadx_ != nullptr) {
    fail(verdict, !text.empty()       ? text.data()
                  : signal == SIGABRT ? "the program aborted"
                                      : "the program touched memory it does not have");
  }
  _exit(3);
}

}  // namespace

void turn_crashes_into_verdicts(int captured) {
  captured_file = captured;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_NODEFER;  // it is left by a jump
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace byre::verification
