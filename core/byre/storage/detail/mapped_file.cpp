// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/storage/detail/mapped_file.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
  // A path may be longer than a text: the reason and the advice come through either way.
  throw FileError(format_text("cannot map the file \"%.700s\": %s. %s", path.c_str(), why, advice));
}

[[noreturn]] void refuse_missing(const fs::path& path) {
  refuse(path, "there is no such file", "Check the path, and the directory it is relative to.");
}
[[noreturn]] void refuse_irregular(const fs::path& path) {
  refuse(path, "it is not a regular file", "Read it into a Buffer::allocate instead.");
}
[[noreturn]] void refuse_empty(const fs::path& path) {
  refuse(path, "it is empty", "Use Buffer::allocate(0) for a buffer of no bytes.");
}

#if BYRE_MAPS_FILES

/// A file that is open while this lives.
class Descriptor {
 public:
  explicit Descriptor(const fs::path& path)
      // Not to block: the path may be a pipe's, which is refused once it is known.
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) {
      if (errno == ENOENT) {
        refuse_missing(path);
      }
      refuse(path, std::strerror(errno), "Check its permissions and the limit of open files.");
    }
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Asked of the open file: its path may name another by now.
std::size_t checked_nbytes(const Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    refuse(path, std::strerror(errno), "Check the file system it is on.");
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_irregular(path);
  }
  if (status.st_size == 0) {
    refuse_empty(path);
  }
  return static_cast<std::size_t>(status.st_size);
}

#endif

}  // namespace

#if BYRE_MAPS_FILES

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file(path);
  nbytes_ = checked_nbytes(file, path);
  void* mapping = ::mmap(nullptr, nbytes_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapping == MAP_FAILED) {
    refuse(path, std::strerror(errno), "Read it into a Buffer::allocate instead.");
  }
  data_ = mapping;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(data_, nbytes_);
  }
}

#else

MappedFile::MappedFile(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) {
    refuse_missing(path);
  }
  if (!fs::is_regular_file(status)) {
    refuse_irregular(path);
  }
  nbytes_ = static_cast<std::size_t>(fs::file_size(path));
  if (nbytes_ == 0) {
    refuse_empty(path);
  }
  data_ = std::malloc(nbytes_);
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
