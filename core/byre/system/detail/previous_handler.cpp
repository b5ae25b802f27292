// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/previous_handler.hpp>

#if defined(__linux__)

namespace byre::inline BYRE_ABI::detail {

void PreviousHandler::install(Handle handle) const noexcept {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_mask = before_.sa_mask;
  action.sa_flags = (before_.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);  // cannot fail for this signal
}

void PreviousHandler::install_if_other(Handle handle) noexcept {
  struct sigaction present {};
  ::sigaction(SIGSEGV, nullptr, &present);
  if ((present.sa_flags & SA_SIGINFO) == 0 || present.sa_sigaction != handle) {
    before_ = present;
    install(handle);
  }
}

void PreviousHandler::forward(int signal, siginfo_t* info, void* context) const noexcept {
  const bool was_sent = info->si_code <= 0;
  if ((before_.sa_flags & SA_SIGINFO) != 0) {
    before_.sa_sigaction(signal, info, context);
  } else if (before_.sa_handler != SIG_DFL && before_.sa_handler != SIG_IGN) {
    before_.sa_handler(signal);
  } else if (before_.sa_handler == SIG_DFL || !was_sent) {
    // The processor repeats the fault after this function returns. The repeated fault ends the
    // program, as it would without the library.
    std::signal(signal, SIG_DFL);
    if (was_sent) {
      ::raise(signal);
    }
  }
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
