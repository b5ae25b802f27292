// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/windows.hpp>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>

namespace byre::inline BYRE_ABI::system {

WideName wide_name(const char* name) noexcept {
  const int length = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, nullptr, 0);
  if (length <= 0) {
    set_errno();
    return nullptr;
  }
  WideName wide(
      static_cast<wchar_t*>(std::malloc(static_cast<std::size_t>(length) * sizeof(wchar_t))));
  if (wide != nullptr) {
    ::MultiByteToWideChar(CP_UTF8, 0, name, -1, wide.get(), length);
  } else {
    errno = ENOMEM;
  }
  return wide;
}

namespace {

/// Converts a name to UTF-8. Null after a failure, with errno.
OwnedName narrow_name(const wchar_t* wide) noexcept {
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, wide, -1, nullptr, 0, nullptr, nullptr);
  OwnedName name(static_cast<char*>(std::malloc(static_cast<std::size_t>(std::max(length, 1)))));
  if (name == nullptr) {
    errno = ENOMEM;
  } else if (::WideCharToMultiByte(CP_UTF8, 0, wide, -1, name.get(), length, nullptr, nullptr) ==
             0) {
    set_errno();
    name.reset();
  }
  return name;
}

}  // namespace

/// Other programs may replace and delete the file meanwhile, as on other systems.
Descriptor open_to_read(const char* name) noexcept {
  const WideName wide = wide_name(name);
  if (wide == nullptr) {
    return {};
  }
  // The flag permits folders, which status_of() rejects with a clearer error.
  const HANDLE handle = ::CreateFileW(wide.get(), GENERIC_READ,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    set_errno();
    return {};
  }
  const int number = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle),
                                       _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (number < 0) {
    ::CloseHandle(handle);
  }
  return Descriptor(number);
}

std::optional<FileStatus> status_of(const Descriptor& file) noexcept {
  const int number = file ? file.number() : -1;  // an empty descriptor keeps the reason in errno
  if (number < 0) {
    return std::nullopt;
  }
  const HANDLE handle = handle_of(number);
  BY_HANDLE_FILE_INFORMATION information{};
  if (::GetFileType(handle) != FILE_TYPE_DISK) {
    return FileStatus{};
  }
  if (::GetFileInformationByHandle(handle, &information) == 0) {
    set_errno();
    return std::nullopt;
  }
  return FileStatus{(information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0,
                    std::uint64_t{information.nFileSizeHigh} << 32U | information.nFileSizeLow};
}

std::ptrdiff_t read_at(const Descriptor& file, void* destination, std::size_t nbytes,
                       std::uint64_t offset) noexcept {
  constexpr std::size_t most_nbytes = std::size_t{1} << 30;
  const int number = file.number();
  if (number < 0) {
    return -1;
  }
  ::OVERLAPPED place{};
  place.Offset = static_cast<::DWORD>(offset);
  place.OffsetHigh = static_cast<::DWORD>(offset >> 32U);
  ::DWORD got = 0;
  if (::ReadFile(handle_of(number), destination,
                 static_cast<::DWORD>(std::min(nbytes, most_nbytes)), &got, &place) == 0 &&
      ::GetLastError() != ERROR_HANDLE_EOF) {
    set_errno();
    return -1;
  }
  return static_cast<std::ptrdiff_t>(got);
}

std::byte* map_privately(const Descriptor& file, std::size_t nbytes, Access access) noexcept {
  const int number = file.number();
  if (number < 0) {
    return nullptr;
  }
  const bool is_written = access == Access::read_write;
  const HANDLE section = ::CreateFileMappingW(
      handle_of(number), nullptr, is_written ? PAGE_WRITECOPY : PAGE_READONLY,
      static_cast<::DWORD>(std::uint64_t{nbytes} >> 32U), static_cast<::DWORD>(nbytes), nullptr);
  if (section == nullptr) {
    set_errno();
    return nullptr;
  }
  void* const mapping =
      ::MapViewOfFile(section, is_written ? FILE_MAP_COPY : FILE_MAP_READ, 0, 0, nbytes);
  if (mapping == nullptr) {
    set_errno();
  }
  ::CloseHandle(section);  // the view keeps the section
  return static_cast<std::byte*>(mapping);
}

OwnedName absolute_name(const char* name) noexcept {
  const Descriptor file = open_to_read(name);
  const int number = file ? file.number() : -1;  // an empty descriptor keeps the reason in errno
  if (number < 0) {
    return nullptr;
  }
  const HANDLE handle = handle_of(number);
  const ::DWORD length = ::GetFinalPathNameByHandleW(handle, nullptr, 0, FILE_NAME_NORMALIZED);
  const WideName wide(static_cast<wchar_t*>(std::malloc((length + 1) * sizeof(wchar_t))));
  if (wide == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const ::DWORD written =
      ::GetFinalPathNameByHandleW(handle, wide.get(), length + 1, FILE_NAME_NORMALIZED);
  if (length == 0 || written == 0 || written > length) {
    set_errno();
    return nullptr;
  }
  return narrow_name(wide.get());
}

}  // namespace byre::inline BYRE_ABI::system
