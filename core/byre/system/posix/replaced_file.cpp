// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/system/detail/last_error.hpp>
#include <byre/system/detail/posix.hpp>
#include <byre/system/detail/replaced_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

namespace byre::inline BYRE_ABI::system {

namespace fs = std::filesystem;
using byre::detail::Descriptor;

namespace {

std::error_code code_of(int error) noexcept {
  return {error, std::system_category()};
}

/// The descriptor that `link` stands for, if it is a link in /proc/self/fd or /proc/thread-self/fd.
std::optional<int> descriptor_of(const fs::path& link) {
  const auto is_in = [folder = link.parent_path()](const char* open_files) {
    std::error_code failure;
    return fs::equivalent(folder, open_files, failure);
  };
  if (!is_in("/proc/self/fd") && !is_in("/proc/thread-self/fd")) {
    return std::nullopt;
  }
  const std::string number = link.filename();
  int descriptor = -1;
  std::from_chars(number.data(), number.data() + number.size(), descriptor);
  return descriptor;
}

/// The target of a name: an open file of this process, a path without symbolic links, or an error.
struct ResolvedName {
  fs::path path;
  std::optional<int> descriptor;
  std::error_code error;
};

ResolvedName resolve_links(fs::path path) {
  constexpr int max_links = 40;  // the limit of Linux
  for (int links = 0; links < max_links; ++links) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(path, failure))) {
      return {std::move(path), {}, {}};
    }
    if (const std::optional<int> descriptor = descriptor_of(path)) {
      return {std::move(path), descriptor, {}};
    }
    const fs::path next = fs::read_symlink(path, failure);
    if (failure) {
      return {std::move(path), {}, failure};
    }
    path = path.parent_path() / next;
  }
  return {std::move(path), {}, code_of(ELOOP)};
}

bool is_regular_or_missing(const char* path) {
  struct ::stat found {};
  return ::stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

/// Opens a folder. On Linux, opens also a folder that the process may write but not read.
Descriptor open_folder(const char* path) noexcept {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return folder < 0 && errno == EACCES ? open_unreadable_folder(path) : Descriptor(folder);
}

/// Writes the file to disk. On macOS fsync() leaves it in the cache of the disk.
bool sync_file(int file) {
#if defined(F_FULLFSYNC)
  if (::fcntl(file, F_FULLFSYNC) == 0) {
    return true;
  }
#endif
  return ::fsync(file) == 0;
}

/// Writes the entries of `folder` to disk, after `file` was renamed in it.
bool sync_folder(int folder, int file) {
  if (::fsync(folder) == 0) {
    return true;
  }
  if (errno == EBADF) {  // the folder is unreadable
    return sync_file_system(file);
  }
  // Some file systems reject fsync() of a folder, but write its entries to disk without it.
  return errno == EINVAL;
}

/// Returns false if the permissions cannot be set.
bool copy_owner_and_permissions(int file, const struct ::stat& replaced) {
  const bool has_owner = ::fchown(file, replaced.st_uid, replaced.st_gid) == 0;
  const bool has_group = has_owner || ::fchown(file, static_cast<uid_t>(-1), replaced.st_gid) == 0;
  ::mode_t mode = replaced.st_mode & (has_owner ? 07777U : 0777U);
  if (!has_group) {
    mode = (mode & ~static_cast<::mode_t>(S_IRWXG)) | (mode & S_IRWXO) << 3;
  }
  return ::fchmod(file, mode) == 0;
}

}  // namespace

std::error_code ReplacedFile::open(const char* name) {
  const ResolvedName target = resolve_links(name);
  if (target.error) {
    return target.error;
  }
  if (target.descriptor) {
    file_ = Descriptor(::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 3));
    if (!file_ || (::fcntl(file_.number(), F_GETFL) & O_ACCMODE) == O_RDONLY) {
      file_.close();
      return code_of(EBADF);
    }
    return {};
  }
  if (!is_regular_or_missing(name)) {
    file_ = Descriptor(::open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    return file_ ? std::error_code() : last_error();
  }
  base_name_ = target.path.filename();
  const fs::path folder = target.path.parent_path();
  folder_name_ = folder.empty() ? "." : folder;
  folder_ = open_folder(folder_name_.c_str());
  if (!folder_) {
    return last_error();
  }
  // Absolute, because reopen_folder() may run in another working directory.
  std::error_code unknown;
  if (fs::path whole = fs::absolute(folder_name_, unknown); !unknown) {
    folder_name_ = std::move(whole);
  }
  if (base_name_.empty() || base_name_ == "." || base_name_ == "..") {
    return code_of(*name == '\0' ? ENOENT : EISDIR);
  }
  return open_temporary();
}

/// The name of the temporary file is unique, because other writers of the file may run
/// concurrently. It is short, because the name of the file may have the maximum length.
std::error_code ReplacedFile::open_temporary() {
  struct ::stat replaced {};
  const bool is_new =
      ::fstatat(folder_.number(), base_name_.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) != 0;
  if (is_new && errno != ENOENT) {
    return last_error();
  }
  // A user who may not read the old file must not open the new one before it has the old
  // permissions.
  const ::mode_t mode = is_new ? 0666 : 0600;
  for (unsigned number = 0; !file_; ++number) {
    std::string temporary =
        format_text(".byre-%ld-%u.part", static_cast<long>(::getpid()), number).chars.data();
    const int opened = ::openat(folder_.number(), temporary.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (opened >= 0) {
      temporary_name_ = std::move(temporary);
    }
    file_ = Descriptor(opened);
    if (!file_ && errno != EEXIST) {
      return last_error();
    }
  }
  // If openat() returned a number below 3, the number was that of a standard stream for a moment,
  // and another thread may have written to the file.
  const bool is_ready = ::ftruncate(file_.number(), 0) == 0 &&
                        ::lseek(file_.number(), 0, SEEK_SET) == 0 &&
                        (is_new || copy_owner_and_permissions(file_.number(), replaced));
  return is_ready ? std::error_code() : last_error();
}

std::error_code ReplacedFile::write(const void* data, std::size_t nbytes) noexcept {
  const auto* next = static_cast<const std::byte*>(data);
  while (nbytes != 0) {
    const ::ssize_t written = ::write(file_.number(), next, nbytes);
    if (written >= 0) {
      next += written;
      nbytes -= static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

std::error_code ReplacedFile::write_at(std::uint64_t offset, const void* data,
                                       std::size_t nbytes) const noexcept {
  const auto* next = static_cast<const std::byte*>(data);
  while (nbytes != 0) {
    const ::ssize_t written = ::pwrite(file_.number(), next, nbytes, static_cast<::off_t>(offset));
    if (written >= 0) {
      next += written;
      offset += static_cast<std::uint64_t>(written);
      nbytes -= static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

std::error_code ReplacedFile::commit() noexcept {
  const int file = file_.number();
  if (file < 0) {
    return last_error();
  }
  if (!is_in_place()) {
    reopen_folder();
    const int folder = folder_.number();
    if (!sync_file(file) ||
        ::renameat(folder, temporary_name_.c_str(), folder, base_name_.c_str()) != 0) {
      return last_error();
    }
    temporary_name_.clear();
    is_renamed_ = true;
    if (!sync_folder(folder, file)) {
      return last_error();
    }
  }
  // A network file system may report an error only when the file is closed.
  return !file_.close() && !is_renamed_ ? last_error() : std::error_code();
}

/// Opens the folder again if other code closed its descriptor, and the name still denotes the
/// folder.
void ReplacedFile::reopen_folder() noexcept {
  if (folder_.number() < 0) {
    Descriptor again = open_folder(folder_name_.c_str());
    if (again.identity() == folder_.identity()) {
      folder_ = std::move(again);
    }
  }
}

std::error_code ReplacedFile::discard() noexcept {
  file_.close();
  std::error_code failure;
  if (folder_ && !temporary_name_.empty()) {
    reopen_folder();
    if (::unlinkat(folder_.number(), temporary_name_.c_str(), 0) != 0 && errno != ENOENT) {
      failure = last_error();
    }
  }
  folder_.close();
  return failure;
}

}  // namespace byre::inline BYRE_ABI::system
