// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/faults.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <iterator>

namespace byre::inline BYRE_ABI::system {
namespace {

/// The action of a user, and the handler of SIGSEGV that the user's handler replaced.
struct FaultHandler {
  // Stored before the handler is installed, because the system may call the handler immediately, on
  // any thread. The acquire load in handle() pairs with the release store in handle_faults():
  // `before` is written before the action.
  std::atomic<FaultAction> action{nullptr};
  struct sigaction before {};

  /// Calls the replaced handler, which may return if it removed the cause of the fault.
  void forward(int signal, siginfo_t* info, void* context) const noexcept {
    const bool was_sent = info->si_code <= 0;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(signal);
    } else if (before.sa_handler == SIG_DFL || !was_sent) {
      // The processor repeats the fault after this function returns. The repeated fault ends the
      // program, as it would without the library.
      std::signal(signal, SIG_DFL);
      if (was_sent) {
        ::raise(signal);
      }
    }
  }
};

constinit FaultHandler handlers[2];

template <FaultUser user>
void handle(int signal, siginfo_t* info, void* context) noexcept {
  const FaultHandler& handler = handlers[static_cast<std::size_t>(user)];
  const FaultAction action = handler.action.load(std::memory_order::acquire);
  if (info->si_code != SEGV_ACCERR || !action(info->si_addr)) {
    handler.forward(signal, info, context);
  }
}

constexpr void (*entry_points[])(int, siginfo_t*, void*) = {&handle<FaultUser::page_guards>,
                                                            &handle<FaultUser::lost_pages>};

/// Whether `present` is `entry`, or a handler of this library that forwards to it. A second entry
/// in the chain of handlers would make the chain a cycle.
bool forwards_to(void (*entry)(int, siginfo_t*, void*), const struct sigaction& present) noexcept {
  if ((present.sa_flags & SA_SIGINFO) == 0) {
    return false;
  }
  const auto* const of_user =
      std::find(std::begin(entry_points), std::end(entry_points), present.sa_sigaction);
  return present.sa_sigaction == entry ||
         (of_user != std::end(entry_points) &&
          forwards_to(entry, handlers[of_user - std::begin(entry_points)].before));
}

}  // namespace

void handle_faults(FaultUser user, FaultAction action) noexcept {
  FaultHandler& handler = handlers[static_cast<std::size_t>(user)];
  auto* const entry = entry_points[static_cast<std::size_t>(user)];
  struct sigaction present {};
  ::sigaction(SIGSEGV, nullptr, &present);
  if (forwards_to(entry, present)) {
    return;
  }
  handler.before = present;
  handler.action.store(action, std::memory_order::release);
  // The handler uses the signal mask and the stack of the handler that it replaces.
  struct sigaction own = present;
  own.sa_sigaction = entry;
  own.sa_flags = (present.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO;
  ::sigaction(SIGSEGV, &own, nullptr);  // cannot fail for this signal
}

bool stay_loaded() noexcept {
#if defined(__GLIBC__)
  Dl_info info;
  void* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&handle_faults), &info, &map, RTLD_DL_LINKMAP) == 0) {
    return false;
  }
  const char* const name = static_cast<link_map*>(map)->l_name;
  return ::dlopen(name, RTLD_NOW) != nullptr;  // a reference that is never closed
#else
  return true;  // musl never unloads a library
#endif
}

}  // namespace byre::inline BYRE_ABI::system
