// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/posix.hpp>
#include <byre/system/detail/process.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace byre::inline BYRE_ABI::system {

const char* program_name() noexcept {
  return ::program_invocation_short_name;
}

const char* trusted_variable(const char* name) noexcept {
  return ::secure_getenv(name);
}

std::uint64_t seconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec);
}

std::uint64_t thread_id() noexcept {
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
}

void write_thread_name(char* name, std::size_t nbytes) noexcept {
  if (::pthread_getname_np(::pthread_self(), name, nbytes) != 0) {
    *name = '\0';
  }
}

byre::detail::Descriptor open_unreadable_folder(const char* path) noexcept {
  return byre::detail::Descriptor(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool sync_file_system(int file) noexcept {
  return ::syncfs(file) == 0;
}

}  // namespace byre::inline BYRE_ABI::system
