// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/descriptor.hpp>

#if defined(__unix__) || defined(__APPLE__)

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace byre::inline v0::detail {
namespace {

constexpr int first_of_ours = 3;

/// Closes `number` and keeps errno.
void close_quietly(int number) noexcept {
  const int error = errno;
  ::close(number);
  errno = error;
}

}  // namespace

Descriptor::Descriptor(int number) noexcept : number_(number) {
  if (number_ >= 0 && number_ < first_of_ours) {
    number_ = ::fcntl(number, F_DUPFD_CLOEXEC, first_of_ours);
    close_quietly(number);
  }
  struct ::stat status {};
  if (number_ >= 0 && ::fstat(number_, &status) != 0) {
    close_quietly(std::exchange(number_, -1));
  }
  identity_ = {status.st_dev, status.st_ino};
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  // If the numbers are equal, code elsewhere closed this one and `other` was given it, or both are one object.
  if (number_ != other.number_) {
    close();
  }
  number_ = std::exchange(other.number_, -1);
  identity_ = other.identity_;
  return *this;
}

int Descriptor::number() const noexcept {
  struct ::stat status {};
  if (number_ >= 0 && ::fstat(number_, &status) == 0 &&
      identity_ == FileIdentity{status.st_dev, status.st_ino}) {
    return number_;
  }
  errno = EBADF;
  return -1;
}

bool Descriptor::close() noexcept {
  if (number_ < 0) {
    return true;  // and errno stays what a failed open() left
  }
  const int ours = number();
  number_ = -1;
  return ours < 0 || ::close(ours) == 0;
}

}  // namespace byre::inline v0::detail

#endif
