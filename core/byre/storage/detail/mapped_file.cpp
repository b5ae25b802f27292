// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/storage/origins.hpp>

#include <cerrno>
#include <cstdint>
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
#include <filesystem>
#include <fstream>
#define BYRE_MAPS_FILES 0
#endif

namespace byre::inline v0::detail {
namespace {

[[noreturn]] void refuse(const FileName& name, const char* why, const char* advice) {
  // A path may be longer than a text: the reason and the advice come through either way.
  throw FileError(format_text("cannot map the file \"%.700s\": %s. %s", name.c_str(), why, advice));
}

[[noreturn]] void refuse_missing(const FileName& name) {
  refuse(name, "there is no such file", "Check the path, and the directory it is relative to.");
}
[[noreturn]] void refuse_irregular(const FileName& name) {
  refuse(name, "it is not a regular file", "Read it into a Buffer::allocate instead.");
}
[[noreturn]] void refuse_empty(const FileName& name) {
  refuse(name, "it is empty", "Use Buffer::allocate(0) for a buffer of no bytes.");
}
[[noreturn]] void refuse_too_large(const FileName& name) {
  refuse(name, "it has more bytes than an object can have on this machine",
         "Map a part of it as a file of its own.");
}

#if BYRE_MAPS_FILES

/// A file that is open while this lives.
class Descriptor {
 public:
  explicit Descriptor(const FileName& name)
      // Not to block: the path may be a pipe's, which is refused once it is known.
      : number_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) {
      if (errno == ENOENT) {
        refuse_missing(name);
      }
      refuse(name, std::strerror(errno), "Check its permissions and the limit of open files.");
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
std::size_t checked_nbytes(const Descriptor& file, const FileName& name) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    refuse(name, std::strerror(errno), "Check the file system it is on.");
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_irregular(name);
  }
  if (status.st_size == 0) {
    refuse_empty(name);
  }
  if (static_cast<std::uintmax_t>(status.st_size) > max_nbytes) {
    refuse_too_large(name);
  }
  return static_cast<std::size_t>(status.st_size);
}

#endif

}  // namespace

#if BYRE_MAPS_FILES

MappedFile::MappedFile(const FileName& name) {
  const Descriptor file(name);
  nbytes_ = checked_nbytes(file, name);
  void* mapping = ::mmap(nullptr, nbytes_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapping == MAP_FAILED) {
    refuse(name, std::strerror(errno), "Read it into a Buffer::allocate instead.");
  }
  data_ = mapping;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(data_, nbytes_);
  }
}

#else

MappedFile::MappedFile(const FileName& name) {
  std::error_code failure;
  namespace fs = std::filesystem;
  const fs::path path(name.c_str());
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) {
    refuse_missing(name);
  }
  if (!fs::is_regular_file(status)) {
    refuse_irregular(name);
  }
  const std::uintmax_t nbytes = fs::file_size(path);
  if (nbytes > max_nbytes) {
    refuse_too_large(name);
  }
  nbytes_ = static_cast<std::size_t>(nbytes);
  if (nbytes_ == 0) {
    refuse_empty(name);
  }
  data_ = std::malloc(nbytes_);
  if (data_ == nullptr) {
    throw OutOfMemory(nbytes_, "heap, to read a file that cannot be mapped");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.read(static_cast<char*>(data_), static_cast<std::streamsize>(nbytes_))) {
    std::free(data_);
    refuse(name, "it cannot be read", "Check its permissions.");
  }
}

MappedFile::~MappedFile() {
  std::free(data_);
}

#endif

}  // namespace byre::inline v0::detail
