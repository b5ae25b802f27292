// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/detail/page_file.hpp>
#include <byre/memory/paged.hpp>
#include <byre/storage/origins.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
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
struct ::stat checked_status(const Descriptor& file, const FileName& name) {
  struct ::stat status {};
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
  return status;
}

/// Not kept open, as a process may have few files open: for an overlay it is opened again by its name. If
/// that is another file by now, or none, there is no overlay.
class MappedFile final : public PageFile {
 public:
  explicit MappedFile(const FileName& name) {
    const Descriptor file(name);
    status_ = checked_status(file, name);
    const auto nbytes = static_cast<std::size_t>(status_.st_size);
    void* const mapping = ::mmap(nullptr, nbytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (mapping == MAP_FAILED) {
      refuse(name, std::strerror(errno), "Read it into a Buffer::allocate instead.");
    }
    set_mapping(static_cast<std::byte*>(mapping), nbytes);
    path_.reset(::realpath(name.c_str(), nullptr));
  }
  ~MappedFile() override {
    if (data() != nullptr) {
      ::munmap(data(), nbytes());
    }
  }

  Overlay map_overlay(std::byte* source, OtherOverlays) noexcept override {
    std::byte* const overlay = nbytes() < least_paged_nbytes ? nullptr : map_again();
    if (overlay == nullptr || source == nullptr) {
      return {overlay, 0};
    }
    const auto copied = copy_written_pages(overlay, source, nbytes());
    if (!copied) {
      unmap_overlay(overlay);
      return {nullptr, 0};
    }
    return {overlay, *copied};
  }
  void unmap_overlay(std::byte* overlay) noexcept override { ::munmap(overlay, nbytes()); }

 private:
  struct Free {
    void operator()(char* text) const noexcept { std::free(text); }
  };

  std::byte* map_again() const noexcept {
    if (path_ == nullptr) {
      return nullptr;
    }
    const int file = ::open(path_.get(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
      return nullptr;
    }
    struct ::stat now {};
    void* mapping = MAP_FAILED;
    if (::fstat(file, &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino) {
      mapping =
          ::mmap(nullptr, nbytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    }
    ::close(file);
    return mapping == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapping);
  }

  struct ::stat status_ {};
  std::unique_ptr<char, Free> path_;
};

#endif

#if !BYRE_MAPS_FILES

/// Read.
class MappedFile final : public PageFile {
 public:
  explicit MappedFile(const FileName& name);
  ~MappedFile() override { std::free(data()); }

  Overlay map_overlay(std::byte*, OtherOverlays) noexcept override { return {nullptr, 0}; }
  void unmap_overlay(std::byte*) noexcept override {}
};

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
  if (nbytes == 0) {
    refuse_empty(name);
  }
  auto* const data = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(nbytes)));
  if (data == nullptr) {
    throw OutOfMemory(static_cast<std::size_t>(nbytes),
                      "heap, to read a file that cannot be mapped");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(nbytes))) {
    std::free(data);
    refuse(name, "it cannot be read", "Check its permissions.");
  }
  set_mapping(data, static_cast<std::size_t>(nbytes));
}

#endif

}  // namespace

std::unique_ptr<PageFile> map_file(const FileName& name) try {
  return std::make_unique<MappedFile>(name);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the header of a mapped file");
}

}  // namespace byre::inline v0::detail
