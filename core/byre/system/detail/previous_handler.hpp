// SPDX-License-Identifier: BSL-1.0
/// The handler of SIGSEGV that a handler of the library's stands in front of, and hands on to it the faults that are
/// not the library's.
#pragma once

#if defined(__linux__)

#include <csignal>

namespace byre::inline v0::detail {

class PreviousHandler {
 public:
  using Handle = void (*)(int signal, siginfo_t* info, void* context);

  constexpr PreviousHandler() noexcept = default;

  /// Remembers the present handler. By one thread at a time, as is install().
  void remember() noexcept { ::sigaction(SIGSEGV, nullptr, &before_); }
  /// Puts `handle` in its place, on its stack and with its mask. It may be called at once.
  void install(Handle handle) const noexcept;

  /// Remembers the present handler and installs `handle`, unless that is the present one.
  void install_if_other(Handle handle) noexcept;

  /// Calls the handler, which may return if it mended the fault. Async-signal-safe, if the handler is.
  void forward(int signal, siginfo_t* info, void* context) const noexcept;

 private:
  struct sigaction before_ {};
};

}  // namespace byre::inline v0::detail

#endif
