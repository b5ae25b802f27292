// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/last_error.hpp>
#include <byre/system/detail/windows.hpp>

#include <cerrno>
#include <cstring>

namespace byre::inline BYRE_ABI::system {
namespace {

int meaning_of(::DWORD error) noexcept {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
    case ERROR_WRITE_PROTECT:
      return EACCES;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_WORKING_SET_QUOTA:
    case ERROR_NOT_ENOUGH_QUOTA:
      return ENOMEM;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return EEXIST;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_INVALID_HANDLE:
      return EBADF;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
      return EPIPE;
    case ERROR_INVALID_PARAMETER:
    case ERROR_NO_UNICODE_TRANSLATION:
      return EINVAL;
    default:
      return EIO;
  }
}

}  // namespace

void set_errno() noexcept {
  errno = meaning_of(::GetLastError());
}

std::error_code last_error() noexcept {
  return {errno, std::generic_category()};
}

Text text_of(std::error_code error) noexcept {
  return format_text("%s", std::strerror(error.value()));
}

KeptError::KeptError() noexcept : error_(static_cast<int>(::GetLastError())) {}

KeptError::~KeptError() {
  ::SetLastError(static_cast<::DWORD>(error_));
  errno = errno_;
}

}  // namespace byre::inline BYRE_ABI::system
