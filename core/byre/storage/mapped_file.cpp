// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/storage/mapped_file.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define BYRE_MAPS_FILES 1
#else
#include <fstream>
#define BYRE_MAPS_FILES 0
#endif

namespace byre::inline v0::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* why, const char* advice) {
  throw FileError(format_text("cannot map the file %s: %s. %s", path.c_str(), why, advice));
}

/// Refuses what is not a file with something in it; opening a device or a pipe might never return.
std::size_t checked_nbytes(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) {
    refuse(path, "there is no such file", "Check the path, and the directory it is relative to.");
  }
  if (failure) {
    refuse(path, std::strerror(failure.value()), "Check the permissions along the path.");
  }
  if (!fs::is_regular_file(status)) {
    refuse(path, "it is not a regular file", "Read it into a Buffer::allocate instead.");
  }
  const std::uintmax_t nbytes = fs::file_size(path, failure);
  if (failure) {
    refuse(path, std::strerror(failure.value()), "Check the permissions along the path.");
  }
  if (nbytes == 0) {
    refuse(path, "it is empty", "Use Buffer::allocate(0) for a buffer of no bytes.");
  }
  return static_cast<std::size_t>(nbytes);
}

}  // namespace

#if BYRE_MAPS_FILES

MappedFile::MappedFile(const fs::path& path) : nbytes_(checked_nbytes(path)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    refuse(path, std::strerror(errno), "Check its permissions and the limit of open files.");
  }
  data_ = ::mmap(nullptr, nbytes_, PROT_READ, MAP_PRIVATE, file, 0);
  const int failure = errno;
  ::close(file);
  if (data_ == MAP_FAILED) {
    refuse(path, std::strerror(failure), "Read it into a Buffer::allocate instead.");
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(data_, nbytes_);
  }
}

#else

MappedFile::MappedFile(const fs::path& path)
    : data_(std::malloc(checked_nbytes(path))), nbytes_(checked_nbytes(path)) {
  if (data_ == nullptr) {
    throw OutOfMemory(nbytes_, "heap, to read a file that cannot be mapped");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.read(static_cast<char*>(data_), static_cast<std::streamsize>(nbytes_))) {
    std::free(data_);
    refuse(path, "it cannot be read", "Check its permissions.");
  }
}

MappedFile::~MappedFile() {
  std::free(data_);
}

#endif

}  // namespace byre::inline v0::detail
