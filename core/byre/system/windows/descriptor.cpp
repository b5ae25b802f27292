// SPDX-License-Identifier: BSL-1.0
/// Descriptors are those of the C library.
#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/windows.hpp>

#include <io.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI::system {

HANDLE handle_of(int number) noexcept {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(number));
}

}  // namespace byre::inline BYRE_ABI::system

namespace byre::inline BYRE_ABI::detail {
namespace {

constexpr int lowest_owned_number = 3;

/// Closes `number` and preserves errno.
void close_quietly(int number) noexcept {
  const int error = errno;
  ::_close(number);
  errno = error;
}

/// Returns a duplicate that child processes do not inherit and whose number may be owned, or -1.
int duplicate(int number) noexcept {
  std::array<int, lowest_owned_number> low{};
  std::size_t count = 0;
  int found = ::_dup(number);
  while (found >= 0 && found < lowest_owned_number) {
    low[count++] = found;
    found = ::_dup(number);
  }
  while (count != 0) {
    close_quietly(low[--count]);
  }
  if (found >= 0) {
    ::SetHandleInformation(system::handle_of(found), HANDLE_FLAG_INHERIT, 0);
  }
  return found;
}

/// Returns false if the number is not open.
bool identify(int number, FileIdentity& identity) noexcept {
  const HANDLE handle = system::handle_of(number);
  BY_HANDLE_FILE_INFORMATION information{};
  if (handle == INVALID_HANDLE_VALUE) {
    return false;
  }
  if (::GetFileInformationByHandle(handle, &information) != 0) {
    identity = {information.dwVolumeSerialNumber,
                std::uint64_t{information.nFileIndexHigh} << 32U | information.nFileIndexLow};
  } else {  // a pipe or a device has a handle only
    identity = {0, reinterpret_cast<std::uintptr_t>(handle)};
  }
  return true;
}

}  // namespace

Descriptor::Descriptor(int number) noexcept : number_(number) {
  if (number_ >= 0 && number_ < lowest_owned_number) {
    number_ = duplicate(number);
    close_quietly(number);
  }
  if (number_ >= 0 && !identify(number_, identity_)) {
    close_quietly(std::exchange(number_, -1));
  }
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (number_ != other.number_) {  // equal only if other code reused this number, or for one object
    close();
  }
  number_ = std::exchange(other.number_, -1);
  identity_ = other.identity_;
  return *this;
}

int Descriptor::number() const noexcept {
  FileIdentity now;
  if (number_ >= 0 && identify(number_, now) && now == identity_) {
    return number_;
  }
  errno = EBADF;
  return -1;
}

bool Descriptor::close() noexcept {
  if (number_ < 0) {
    return true;  // preserves errno, which a failed open may have set
  }
  const int owned = number();
  number_ = -1;
  return owned < 0 || ::_close(owned) == 0;
}

}  // namespace byre::inline BYRE_ABI::detail
