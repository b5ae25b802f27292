// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

constexpr int lowest_owned_number = 3;

/// Closes `number` and preserves errno.
void close_quietly(int number) noexcept {
  const int error = errno;
  ::close(number);
  errno = error;
}

FileIdentity identity_of(const struct ::stat& status) noexcept {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

Descriptor::Descriptor(int number) noexcept : number_(number) {
  if (number_ >= 0 && number_ < lowest_owned_number) {
    number_ = ::fcntl(number, F_DUPFD_CLOEXEC, lowest_owned_number);
    close_quietly(number);
  }
  struct ::stat status {};
  if (number_ >= 0 && ::fstat(number_, &status) != 0) {
    close_quietly(std::exchange(number_, -1));
  }
  identity_ = identity_of(status);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  // The numbers are equal if other code closed this descriptor and the system reused the number for
  // `other`, or if both are the same object.
  if (number_ != other.number_) {
    close();
  }
  number_ = std::exchange(other.number_, -1);
  identity_ = other.identity_;
  return *this;
}

int Descriptor::number() const noexcept {
  struct ::stat status {};
  if (number_ >= 0 && ::fstat(number_, &status) == 0 && identity_ == identity_of(status)) {
    return number_;
  }
  errno = EBADF;
  return -1;
}

bool Descriptor::close() noexcept {
  if (number_ < 0) {
    return true;  // preserves errno, which a failed open() may have set
  }
  const int owned = number();
  number_ = -1;
  return owned < 0 || ::close(owned) == 0;
}

}  // namespace byre::inline BYRE_ABI::detail
