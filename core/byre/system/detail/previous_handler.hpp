// SPDX-License-Identifier: BSL-1.0
/// PreviousHandler: the handler of SIGSEGV that a handler of the library replaces, and to which it
/// forwards faults that do not concern the library.
#pragma once

#include <byre/config.hpp>

#if defined(__linux__)

#include <csignal>

namespace byre::inline BYRE_ABI::detail {

class PreviousHandler {
 public:
  using Handle = void (*)(int signal, siginfo_t* info, void* context);

  constexpr PreviousHandler() noexcept = default;

  /// Stores the current handler. Only one thread at a time may call remember(), install() and
  /// install_if_other().
  void remember() noexcept { ::sigaction(SIGSEGV, nullptr, &before_); }
  /// Installs `handle` with the signal mask and the stack of the stored handler. The system may
  /// call `handle` immediately.
  void install(Handle handle) const noexcept;

  /// Stores the current handler and installs `handle`, unless `handle` is already installed.
  void install_if_other(Handle handle) noexcept;

  /// Calls the stored handler, which may return if it removed the cause of the fault.
  /// Async-signal-safe if the stored handler is.
  void forward(int signal, siginfo_t* info, void* context) const noexcept;

 private:
  struct sigaction before_ {};
};

}  // namespace byre::inline BYRE_ABI::detail

#endif
