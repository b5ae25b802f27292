// SPDX-License-Identifier: BSL-1.0
#include "output_file_fixture.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace byre::test {

Disk disk;

constinit thread_local bool is_interrupted = false;
constinit thread_local bool is_short = false;
constinit thread_local bool close_fails = false;
constinit thread_local const char* has_no_memory = "";
constinit thread_local const char* printed_into_new_files = nullptr;

namespace {

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool finds_memory(const char* function) {
  if (std::string_view(has_no_memory) != function) {
    return true;
  }
  has_no_memory = "";
  errno = ENOMEM;
  return false;
}

}  // namespace
}  // namespace byre::test

// These functions replace those of the C library.
extern "C" int fsync(int file) {
  struct ::stat found {};
  ::fstat(file, &found);
  if (!byre::test::disk.step(S_ISDIR(found.st_mode)
                                 ? "flush folder"
                                 : "flush " + std::to_string(found.st_size) + " bytes")) {
    return -1;
  }
  return byre::test::original<int(int)>("fsync")(file);
}

extern "C" int syncfs(int file) {
  return byre::test::disk.step("flush all") ? byre::test::original<int(int)>("syncfs")(file) : -1;
}

extern "C" int fchmod(int file, mode_t mode) {
  struct ::stat found {};
  ::fstat(file, &found);
  byre::test::disk.mode_before = found.st_mode & 07777U;
  return byre::test::original<int(int, mode_t)>("fchmod")(file, mode);
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  if (!byre::test::disk.step("rename")) {
    return -1;
  }
  return byre::test::original<int(int, const char*, int, const char*)>("renameat")(
      from_folder, from, to_folder, to);
}

extern "C" ssize_t write(int file, const void* bytes, size_t nbytes) {
  if (std::exchange(byre::test::is_interrupted, false)) {
    errno = EINTR;
    return -1;
  }
  const size_t taken = std::exchange(byre::test::is_short, false) ? nbytes / 2 : nbytes;
  return byre::test::original<ssize_t(int, const void*, size_t)>("write")(file, bytes, taken);
}

extern "C" ssize_t pwrite(int file, const void* bytes, size_t nbytes, off_t offset) {
  if (std::exchange(byre::test::is_interrupted, false)) {
    errno = EINTR;
    return -1;
  }
  const size_t taken = std::exchange(byre::test::is_short, false) ? nbytes / 2 : nbytes;
  return byre::test::original<ssize_t(int, const void*, size_t, off_t)>("pwrite64")(file, bytes,
                                                                                    taken, offset);
}

extern "C" ssize_t pread(int file, void* to, size_t nbytes, off_t offset) {
  if (std::exchange(byre::test::is_interrupted, false)) {
    errno = EINTR;
    return -1;
  }
  return byre::test::original<ssize_t(int, void*, size_t, off_t)>("pread64")(file, to, nbytes,
                                                                             offset);
}

extern "C" int close(int file) {
  const int closed = byre::test::original<int(int)>("close")(file);
  if (std::exchange(byre::test::close_fails, false)) {
    errno = EIO;
    return -1;
  }
  return closed;
}

extern "C" int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, unsigned));
  va_end(arguments);
  return byre::test::finds_memory("open")
             ? byre::test::original<int(const char*, int, ...)>("open64")(path, flags, mode)
             : -1;
}

extern "C" int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, unsigned));
  va_end(arguments);
  const int opened = byre::test::finds_memory("openat")
                         ? byre::test::original<int(int, const char*, int, ...)>("openat64")(
                               folder, path, flags, mode)
                         : -1;
  if (opened >= 0 && byre::test::printed_into_new_files != nullptr && (flags & O_CREAT) != 0) {
    const std::string_view printed = byre::test::printed_into_new_files;
    EXPECT_EQ(::pwrite(opened, printed.data(), printed.size(), 0),
              static_cast<ssize_t>(printed.size()));
    ::lseek(opened, 0, SEEK_END);
  }
  return opened;
}

extern "C" char* realpath(const char* path, char* resolved) {
  return byre::test::finds_memory("realpath")
             ? byre::test::original<char*(const char*, char*)>("realpath")(path, resolved)
             : nullptr;
}
