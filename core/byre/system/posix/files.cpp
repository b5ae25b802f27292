// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace byre::inline BYRE_ABI::system {

Descriptor open_to_read(const char* name) noexcept {
  return Descriptor(::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

std::optional<FileStatus> status_of(const Descriptor& file) noexcept {
  struct ::stat status {};
  if (!file || ::fstat(file.number(), &status) != 0) {
    return std::nullopt;
  }
  return FileStatus{S_ISREG(status.st_mode), static_cast<std::uint64_t>(status.st_size)};
}

std::ptrdiff_t read_at(const Descriptor& file, void* destination, std::size_t nbytes,
                       std::uint64_t offset) noexcept {
  for (;;) {
    const ::ssize_t got = ::pread(file.number(), destination, nbytes, static_cast<::off_t>(offset));
    if (got >= 0 || errno != EINTR) {
      return got;
    }
  }
}

OwnedName absolute_name(const char* name) noexcept {
  return OwnedName(::realpath(name, nullptr));
}

}  // namespace byre::inline BYRE_ABI::system
