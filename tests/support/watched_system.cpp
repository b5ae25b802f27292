// SPDX-License-Identifier: BSL-1.0
#include "support/watched_system.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string_view>

namespace byre::test {
namespace {

constexpr int populate_write = 23;
WatchedSystem* watched = nullptr;

int refuse(int error) noexcept {
  errno = error;
  return -1;
}

}  // namespace

WatchedSystem::WatchedSystem() noexcept {
  watched = this;
}

WatchedSystem::~WatchedSystem() {
  watched = nullptr;
}

std::vector<WatchedSystem::Range> WatchedSystem::advised(int advice) const {
  const auto found = advised_.find(advice);
  return found == advised_.end() ? std::vector<Range>() : found->second;
}

void WatchedSystem::note(int advice, const void* data, std::size_t nbytes) {
  advised_[advice].push_back({static_cast<const std::byte*>(data), nbytes});
}

bool WatchedSystem::takes_failure(const char* function) noexcept {
  const bool is_counted = left_until_failure_ != static_cast<std::size_t>(-1) &&
                          (failing_.empty() || failing_ == function);
  if (!is_counted || left_until_failure_-- != 0) {
    return false;
  }
  failed_ = function;
  errno = error_;
  return true;
}

WatchedSystem* watched_system() noexcept {
  return watched;
}

bool WatchedSystem::allows(const void* data, std::size_t nbytes) {
  ranges_.push_back({static_cast<const std::byte*>(data), nbytes});
  before_populating(ranges_.back());
  if (left_ == 0) {
    return false;
  }
  --left_;
  return true;
}

}  // namespace byre::test

// These functions replace those of the C library.

using byre::test::refuse;
using byre::test::watched;

extern "C" int madvise(void* data, std::size_t nbytes, int advice) noexcept {
  if (watched != nullptr) {
    if (advice != byre::test::populate_write) {
      watched->note(advice, data, nbytes);
    } else if (watched->takes_failure("madvise")) {
      return -1;
    } else if (!watched->allows(data, nbytes)) {
      return refuse(ENOMEM);
    } else if (watched->interruptions != 0) {
      return refuse(--watched->interruptions % 2 == 0 ? EINTR : EAGAIN);
    }
  }
  return static_cast<int>(::syscall(SYS_madvise, data, nbytes, advice));
}

// Functions of a sanitizer, which has to record mappings. Null if the program has no sanitizer.
extern "C" [[gnu::weak]] void* __interceptor_mmap(void*, std::size_t, int, int, int, off_t);
extern "C" [[gnu::weak]] int __interceptor_munmap(void*, std::size_t);

extern "C" int munmap(void* data, std::size_t nbytes) noexcept {
  if (watched != nullptr && !watched->unmaps) {
    return refuse(ENOMEM);
  }
  return __interceptor_munmap != nullptr ? __interceptor_munmap(data, nbytes)
                                         : static_cast<int>(::syscall(SYS_munmap, data, nbytes));
}

extern "C" void* mmap(void* at, std::size_t nbytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  if (watched != nullptr) {
    watched->before_mapping();
    if (watched->takes_failure("mmap")) {
      return MAP_FAILED;
    }
    if (watched->takes_refusal_of_map()) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
  }
  // Calls the C library, because the arguments of the system call differ between architectures.
  static const auto next =
      __interceptor_mmap != nullptr
          ? &__interceptor_mmap
          : reinterpret_cast<decltype(&__interceptor_mmap)>(::dlsym(RTLD_NEXT, "mmap"));
  return next(at, nbytes, protection, flags, file, offset);
}

extern "C" int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  const auto result =
      static_cast<int>(::syscall(SYS_prlimit64, ::getpid(), resource, nullptr, limit));
  const bool has_few = std::getenv("BYRE_FEW_DESCRIPTORS") != nullptr ||
                       (watched != nullptr && !watched->has_many_descriptors);
  if (resource == RLIMIT_NOFILE && has_few) {
    limit->rlim_cur = 4;
  }
  return result;
}

extern "C" void* mremap(void* from, std::size_t nbytes, std::size_t new_nbytes, int flags,
                        ...) noexcept {
  std::va_list arguments;
  va_start(arguments, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  if (watched != nullptr && !watched->moves) {
    if (watched->unmaps_targets) {
      ::munmap(to, new_nbytes);
    }
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(::syscall(SYS_mremap, from, nbytes, new_nbytes, flags, to));
}

extern "C" int mprotect(void* data, std::size_t nbytes, int protection) noexcept {
  if (watched != nullptr && !watched->makes_writable && (protection & PROT_WRITE) != 0) {
    return refuse(ENOMEM);
  }
  return static_cast<int>(::syscall(SYS_mprotect, data, nbytes, protection));
}

extern "C" int ioctl(int file, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (watched != nullptr && !watched->has_pagemap_scan) {
    return refuse(ENOTTY);
  }
  if (watched != nullptr && watched->takes_failure("ioctl")) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
}

extern "C" int open(const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (watched != nullptr && !watched->has_proc && std::string_view(name).starts_with("/proc/")) {
    return refuse(ENOENT);
  }
  if (watched != nullptr && !watched->has_pagemap &&
      name == std::string_view("/proc/self/pagemap")) {
    return refuse(EACCES);
  }
  if (watched != nullptr) {
    watched->before_opening();
    if (watched->takes_failure("open")) {
      return -1;
    }
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, name, flags, mode));
}

extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  constexpr unsigned noexec_seal = 0x0008;
  if (watched != nullptr && watched->takes_failure("memfd_create")) {
    return -1;
  }
  if (watched != nullptr && !watched->has_memory_files) {
    return refuse(ENOSYS);
  }
  if (watched != nullptr && (flags & noexec_seal) != 0 && !watched->has_noexec_seal) {
    return refuse(EINVAL);
  }
  if (watched != nullptr && (flags & noexec_seal) == 0 && watched->wants_noexec_seal) {
    return refuse(EACCES);
  }
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}
