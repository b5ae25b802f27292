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
  const int number = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle),
                                       _O_WRONLY | _O_BINARY | _O_NOINHERIT);
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

/// Gives the file `from` the name `to`. ReplaceFileW() would also keep the access control list of
/// the older file, but it takes several steps, after which both files may have other names.
bool replace(const char* from, const char* to) noexcept {
  const WideName old_name = wide_name(from);
  const WideName new_name = wide_name(to);
  if (old_name == nullptr || new_name == nullptr) {
    return false;
  }
  if (::MoveFileExW(old_name.get(), new_name.get(),
                    MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) == 0) {
    set_errno();
    return false;
  }
  return true;
}

/// A name of a folder that the system completed ends in a backslash only if it is a root.
std::string joined(const std::string& folder, const std::string& name) {
  return folder + (folder.ends_with('\\') ? "" : "\\") + name;
}

/// Writes all bytes, at the position of the file or, if `place` is not null, there.
std::error_code write_all(const byre::detail::Descriptor& file, const void* data,
                          std::size_t nbytes, ::OVERLAPPED* place) noexcept {
  constexpr std::size_t most_nbytes = std::size_t{1} << 30;
  const auto* next = static_cast<const std::byte*>(data);
  while (nbytes != 0) {
    const int number = file.number();
    ::DWORD written = 0;
    if (number < 0) {
      return last_error();
    }
    if (::WriteFile(handle_of(number), next, static_cast<::DWORD>(std::min(nbytes, most_nbytes)),
                    &written, place) == 0) {
      return error_of_system();
    }
    next += written;
    nbytes -= written;
    if (place != nullptr) {
      const std::uint64_t offset =
          (std::uint64_t{place->OffsetHigh} << 32 | place->Offset) + written;
      place->Offset = static_cast<::DWORD>(offset);
      place->OffsetHigh = static_cast<::DWORD>(offset >> 32);
    }
  }
  return {};
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
  // "C:" alone denotes the current folder of the drive, and "C:\" its root.
  const std::size_t begin = target.find_last_of("\\/:") + 1;
  base_name_ = target.substr(begin);
  folder_name_ = begin == 0 ? "." : target.substr(0, begin);
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
  return write_all(file_, data, nbytes, nullptr);
}

std::error_code ReplacedFile::write_at(std::uint64_t offset, const void* data,
                                       std::size_t nbytes) const noexcept {
  ::OVERLAPPED place{};
  place.Offset = static_cast<::DWORD>(offset);
  place.OffsetHigh = static_cast<::DWORD>(offset >> 32);
  return write_all(file_, data, nbytes, &place);
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
  const bool is_left = folder_ && !temporary_name_.empty();
  file_.close();
  folder_.close();
  if (!is_left) {
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
