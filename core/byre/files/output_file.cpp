// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace fs = std::filesystem;

namespace {

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
  int error = 0;
};

ResolvedName resolve_links(fs::path path) {
  constexpr int max_links = 40;  // the limit of Linux
  for (int links = 0; links < max_links; ++links) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(path, failure))) {
      return {std::move(path), {}};
    }
    if (const std::optional<int> descriptor = descriptor_of(path)) {
      return {std::move(path), descriptor};
    }
    const fs::path next = fs::read_symlink(path, failure);
    if (failure) {
      return {std::move(path), {}, failure.value()};
    }
    path = path.parent_path() / next;
  }
  return {std::move(path), {}, ELOOP};
}

bool is_regular_or_missing(const char* path) {
  struct ::stat found {};
  return ::stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

/// Opens a folder. On Linux, opens also a folder that the process may write but not read.
detail::Descriptor open_folder(const char* path) noexcept {
  constexpr int flags = O_DIRECTORY | O_CLOEXEC;
  const int folder = ::open(path, O_RDONLY | flags);
#if defined(__linux__)
  if (folder < 0 && errno == EACCES) {
    return detail::Descriptor(::open(path, O_PATH | flags));
  }
#endif
  return detail::Descriptor(folder);
}

/// Writes the entries of `folder` to disk, after `file` was renamed in it.
bool sync_folder(int folder, int file) {
  if (::fsync(folder) == 0) {
    return true;
  }
#if defined(__linux__)
  if (errno == EBADF) {  // the folder is unreadable: write the whole file system
    return ::syncfs(file) == 0;
  }
#endif
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

OutputFile::OutputFile(FileName name) {
  try {
    open(name.c_str());
  } catch (const std::bad_alloc&) {
    discard();
    throw OutOfMemory::of_heap("writing a file");
  }
}

void OutputFile::open(const char* name) {
  name_ = name;
  const ResolvedName target = resolve_links(name_);
  if (target.error != 0) {
    throw_error(target.error);
  }
  if (target.descriptor) {
    file_ = detail::Descriptor(::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 3));
    if (!file_ || (::fcntl(file_.number(), F_GETFL) & O_ACCMODE) == O_RDONLY) {
      file_.close();
      throw_error(EBADF);
    }
  } else if (!is_regular_or_missing(name)) {
    file_ = detail::Descriptor(::open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file_) {
      throw_error(errno);
    }
  } else {
    base_name_ = target.path.filename();
    const fs::path folder = target.path.parent_path();
    folder_name_ = folder.empty() ? "." : folder;
    folder_ = open_folder(folder_name_.c_str());
    if (!folder_) {
      throw_error(errno);
    }
    // Absolute, because reopen_folder() may run in another working directory.
    std::error_code unknown;
    if (fs::path whole = fs::absolute(folder_name_, unknown); !unknown) {
      folder_name_ = std::move(whole);
    }
    open_temporary();
  }
}

OutputFile::~OutputFile() {
  discard();
}

/// The name of the temporary file is unique, because other writers of the file may run
/// concurrently. It is short, because the name of the file may have the maximum length.
void OutputFile::open_temporary() {
  if (base_name_.empty() || base_name_ == "." || base_name_ == "..") {
    throw_error(name_.empty() ? ENOENT : EISDIR);
  }
  struct ::stat replaced {};
  const bool is_new =
      ::fstatat(folder_.number(), base_name_.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) != 0;
  if (is_new && errno != ENOENT) {
    throw_error(errno);
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
      temporary_ = std::move(temporary);
    }
    file_ = detail::Descriptor(opened);
    if (!file_ && errno != EEXIST) {
      throw_error(errno);
    }
  }
  // If openat() returned a number below 3, the number was that of a standard stream for a moment,
  // and another thread may have written to the file.
  if (::ftruncate(file_.number(), 0) != 0 || ::lseek(file_.number(), 0, SEEK_SET) != 0) {
    throw_error(errno);
  }
  if (!is_new && !copy_owner_and_permissions(file_.number(), replaced)) {
    throw_error(errno);
  }
}

/// Opens the folder again if other code closed its descriptor, and the name still denotes the
/// folder.
void OutputFile::reopen_folder() noexcept {
  if (folder_.number() < 0) {
    detail::Descriptor again = open_folder(folder_name_.c_str());
    if (again.identity() == folder_.identity()) {
      folder_ = std::move(again);
    }
  }
}

void OutputFile::discard() noexcept {
  file_.close();
  if (!temporary_.empty()) {
    reopen_folder();
    if (::unlinkat(folder_.number(), temporary_.c_str(), 0) != 0 && errno != ENOENT) {
      warn("cannot remove the temporary file \"%.500s/%.100s\": %s. Remove it.",
           folder_name_.c_str(), temporary_.c_str(), std::strerror(errno));
    }
    temporary_.clear();
  }
  folder_.close();
}

int OutputFile::descriptor_for_writing() {
  const int number = file_.number();
  if (number < 0) {
    throw_error("other code closed its descriptor", "Close only descriptors that your code opened");
  }
  return number;
}

void OutputFile::write(const void* data, std::size_t nbytes) {
  const auto* next = static_cast<const std::byte*>(data);
  while (nbytes != 0) {
    const ::ssize_t written = ::write(descriptor_for_writing(), next, nbytes);
    if (written < 0) {
      if (errno != EINTR) {
        throw_error(errno);
      }
      continue;
    }
    next += written;
    nbytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  const int file = descriptor_for_writing();
  if (!is_in_place()) {
    reopen_folder();
    const int folder = folder_.number();
    if (::fsync(file) != 0 ||
        ::renameat(folder, temporary_.c_str(), folder, base_name_.c_str()) != 0) {
      throw_error(errno);
    }
    temporary_.clear();
    if (!sync_folder(folder, file)) {
      throw FileError(
          format_text("the file \"%.700s\" was written, but may not survive a power failure: %s. "
                      "Check the disk, and write the file again.",
                      name_.c_str(), std::strerror(errno)));
    }
  }
  // A network file system may report an error only when the file is closed.
  if (!file_.close() && is_in_place()) {
    throw_error(errno);
  }
}

void OutputFile::throw_error(int error) {
  if (error == ENOMEM) {
    discard();
    detail::throw_file_error(name_, "write", error, "");
  }
  throw_error(std::strerror(error), error == EMFILE || error == ENFILE
                                        ? "Close other files, or raise the limit of open files"
                                        : "Choose another place, or free space");
}

void OutputFile::throw_error(const char* why, const char* advice) {
  const bool is_changed = file_ && is_in_place();
  discard();
  throw FileError(format_text(
      "cannot write the file \"%.700s\": %s. %s. %s.", name_.c_str(), why,
      is_changed ? "It may contain part of the data" : "The file is unchanged", advice));
}

}  // namespace byre::inline BYRE_ABI
