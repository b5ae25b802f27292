// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>
#include <byre/system/detail/replaced_file.hpp>
#include <byre/system/detail/windows.hpp>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

namespace byre::inline BYRE_ABI::system {
namespace {

using byre::detail::Descriptor;

std::error_code code_of(int error) noexcept {
  return {error, std::generic_category()};
}

std::error_code error_of_system() noexcept {
  set_errno();
  return last_error();
}

/// Creates or opens a file to write it.
Descriptor open_to_write(const char* name, ::DWORD creation) noexcept {
  const WideName wide = wide_name(name);
  if (wide == nullptr) {
    return {};
  }
  const HANDLE handle = ::CreateFileW(wide.get(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, creation,
                                      FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    set_errno();
    return {};
  }
  const int number =
      ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_WRONLY | _O_BINARY);
  if (number < 0) {
    ::CloseHandle(handle);
  }
  return Descriptor(number);
}

/// INVALID_FILE_ATTRIBUTES, with errno, if there is no such file.
::DWORD attributes_of(const char* name) noexcept {
  const WideName wide = wide_name(name);
  if (wide == nullptr) {
    return INVALID_FILE_ATTRIBUTES;
  }
  const ::DWORD attributes = ::GetFileAttributesW(wide.get());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    set_errno();
  }
  return attributes;
}

/// Gives the file `from` the name `to`, and keeps the permissions of an older file of that name.
bool replace(const char* from, const char* to) noexcept {
  const WideName old_name = wide_name(from);
  const WideName new_name = wide_name(to);
  if (old_name == nullptr || new_name == nullptr) {
    return false;
  }
  // ReplaceFile() fails if there is no older file, and may fail after it removed the older file.
  if (::ReplaceFileW(new_name.get(), old_name.get(), nullptr,
                     REPLACEFILE_IGNORE_MERGE_ERRORS | REPLACEFILE_IGNORE_ACL_ERRORS, nullptr,
                     nullptr) != 0) {
    return true;
  }
  const ::DWORD error = ::GetLastError();
  const bool is_missing =
      error == ERROR_FILE_NOT_FOUND || error == ERROR_UNABLE_TO_MOVE_REPLACEMENT_2;
  if (is_missing && ::MoveFileExW(old_name.get(), new_name.get(), MOVEFILE_WRITE_THROUGH) != 0) {
    return true;
  }
  ::SetLastError(is_missing ? ::GetLastError() : error);
  set_errno();
  return false;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder + "\\" + name;
}

}  // namespace

std::error_code ReplacedFile::open(const char* name) {
  std::string target(name);
  const ::DWORD attributes = attributes_of(name);
  if (attributes == INVALID_FILE_ATTRIBUTES && errno != ENOENT) {
    return last_error();
  }
  if (attributes != INVALID_FILE_ATTRIBUTES) {
    const Descriptor there = open_to_read(name);
    const auto status = there ? status_of(there) : std::nullopt;
    if (status && !status->is_regular) {
      if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
        return code_of(EISDIR);
      }
      file_ = open_to_write(name, OPEN_EXISTING);  // a device
      return file_ ? std::error_code() : last_error();
    }
    if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
      const OwnedName linked = absolute_name(name);
      if (linked == nullptr) {
        return last_error();
      }
      target = linked.get();
    }
  }
  const std::size_t end = target.find_last_of("\\/");
  base_name_ = end == std::string::npos ? target : target.substr(end + 1);
  folder_name_ = end == std::string::npos ? "." : target.substr(0, std::max<std::size_t>(end, 1));
  if (base_name_.empty() || base_name_ == "." || base_name_ == "..") {
    return code_of(target.empty() ? ENOENT : EISDIR);
  }
  if (const OwnedName whole = absolute_name(folder_name_.c_str())) {
    folder_name_ = whole.get();
  }
  folder_ = open_to_read(folder_name_.c_str());
  return folder_ ? open_temporary() : last_error();
}

/// The name of the temporary file is unique, because other writers of the file may run
/// concurrently.
std::error_code ReplacedFile::open_temporary() {
  for (unsigned number = 0; !file_; ++number) {
    std::string temporary =
        format_text(".byre-%lu-%u.part", ::GetCurrentProcessId(), number).chars.data();
    file_ = open_to_write(joined(folder_name_, temporary).c_str(), CREATE_NEW);
    if (file_) {
      temporary_name_ = std::move(temporary);
    } else if (errno != EEXIST) {
      return last_error();
    }
  }
  return {};
}

std::error_code ReplacedFile::write(const void* data, std::size_t nbytes) noexcept {
  constexpr std::size_t most_nbytes = std::size_t{1} << 30;
  const auto* next = static_cast<const std::byte*>(data);
  while (nbytes != 0) {
    const int number = file_.number();
    ::DWORD written = 0;
    if (number < 0) {
      return last_error();
    }
    if (::WriteFile(handle_of(number), next, static_cast<::DWORD>(std::min(nbytes, most_nbytes)),
                    &written, nullptr) == 0) {
      return error_of_system();
    }
    next += written;
    nbytes -= written;
  }
  return {};
}

std::error_code ReplacedFile::commit() noexcept try {
  const int number = file_.number();
  if (number < 0) {
    return last_error();
  }
  if (is_in_place()) {
    return file_.close() ? std::error_code() : last_error();
  }
  if (::FlushFileBuffers(handle_of(number)) == 0) {
    return error_of_system();
  }
  file_.close();  // an open file cannot be renamed
  if (!replace(joined(folder_name_, temporary_name_).c_str(),
               joined(folder_name_, base_name_).c_str())) {
    return last_error();
  }
  temporary_name_.clear();
  is_renamed_ = true;
  return {};
} catch (const std::bad_alloc&) {
  return code_of(ENOMEM);
}

std::error_code ReplacedFile::discard() noexcept try {
  file_.close();
  folder_.close();
  if (temporary_name_.empty()) {
    return {};
  }
  const WideName temporary = wide_name(joined(folder_name_, temporary_name_).c_str());
  if (temporary == nullptr) {
    return last_error();
  }
  return ::DeleteFileW(temporary.get()) != 0 || ::GetLastError() == ERROR_FILE_NOT_FOUND
             ? std::error_code()
             : error_of_system();
} catch (const std::bad_alloc&) {
  return code_of(ENOMEM);
}

void ReplacedFile::reopen_folder() noexcept {}

}  // namespace byre::inline BYRE_ABI::system
