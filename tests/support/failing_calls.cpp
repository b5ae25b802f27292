// SPDX-License-Identifier: BSL-1.0
/// Functions of the system that fail by WatchedSystem::fail_once().
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdarg>

#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// Calls the C library's function `name`, of type `Function`, or returns -1 if it fails now.
template <class Function, class... Arguments>
auto call(const char* name, Arguments... arguments) {
  WatchedSystem* const system = watched_system();
  auto* const next = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  using Result = decltype(next(arguments...));
  return system != nullptr && system->takes_failure(name) ? Result{-1} : next(arguments...);
}

}  // namespace
}  // namespace byre::test

using byre::test::call;

extern "C" int flock(int file, int operation) noexcept {
  return call<int(int, int)>("flock", file, operation);
}

extern "C" int ftruncate(int file, off_t nbytes) noexcept {
  return call<int(int, off_t)>("ftruncate", file, nbytes);
}

extern "C" int fcntl(int file, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return call<int(int, int, ...)>("fcntl", file, command, argument);
}

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return call<ssize_t(int, const msghdr*, int)>("sendmsg", socket, message, flags);
}

extern "C" ssize_t recvmsg(int socket, msghdr* message, int flags) {
  return call<ssize_t(int, msghdr*, int)>("recvmsg", socket, message, flags);
}

extern "C" int getsockopt(int socket, int level, int option, void* value,
                          socklen_t* nbytes) noexcept {
  return call<int(int, int, int, void*, socklen_t*)>("getsockopt", socket, level, option, value,
                                                     nbytes);
}

extern "C" int poll(pollfd* files, nfds_t count, int timeout) {
  return call<int(pollfd*, nfds_t, int)>("poll", files, count, timeout);
}
