// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace byre::inline BYRE_ABI::detail {

OpenedFile open_regular_file(const FileName& name, const char* operation) {
  // Nonblocking, because the name may belong to a pipe, which is rejected only after it is open.
  Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct ::stat status {};
  if (!file || ::fstat(file.number(), &status) != 0) {
    if (errno == ENOENT) {
      throw_file_error(name, operation, "there is no such file",
                       "Check the path, and the directory that it is relative to.");
    }
    throw_file_error(name, operation, errno,
                     "Check the path, its permissions and the limit of open files.");
  }
  if (!S_ISREG(status.st_mode)) {
    throw_file_error(name, operation, "it is not a regular file",
                     "Copy its bytes into a file, or into memory.");
  }
  if (static_cast<std::uintmax_t>(status.st_size) > std::size_t{PTRDIFF_MAX}) {
    const Text why = format_text("it has %ju bytes, and an object has at most %td bytes",
                                 static_cast<std::uintmax_t>(status.st_size), PTRDIFF_MAX);
    throw_file_error(name, operation, why.chars.data(), "Split it into smaller files.");
  }
  return {std::move(file), static_cast<std::size_t>(status.st_size)};
}

void throw_file_error(const FileName& name, const char* operation, int error, const char* advice) {
  if (error == ENOMEM) {
    throw OutOfMemory(
        format_text("out of memory: the system lacks the memory to %s the file \"%.700s\". Release "
                    "tensors and buffers, or trim the recycling pool.",
                    operation, name.c_str()));
  }
  throw_file_error(name, operation, std::strerror(error), advice);
}

void throw_file_error(const FileName& name, const char* operation, const char* why,
                      const char* advice) {
  // The path is cut, because a longer path would displace the reason and the advice.
  throw FileError(
      format_text("cannot %s the file \"%.700s\": %s. %s", operation, name.c_str(), why, advice));
}

InputFile::InputFile(FileName name) : name_(name), file_(open_regular_file(name, "read")) {}

void InputFile::read(void* destination, std::size_t nbytes) {
  auto* next = static_cast<std::byte*>(destination);
  while (nbytes != 0) {
    const int number = file_.descriptor.number();
    if (number < 0) {
      throw_file_error(name_, "read", "other code closed its descriptor",
                       "Close only descriptors that your code opened.");
    }
    const ::ssize_t got = ::pread(number, next, nbytes, static_cast<::off_t>(offset_));
    if (got > 0) {
      next += got;
      offset_ += static_cast<std::size_t>(got);
      nbytes -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      const Text why = format_text("it ended with %zu bytes still to read", nbytes);
      throw_file_error(name_, "read", why.chars.data(),
                       "Check whether another program truncated it.");
    } else if (errno != EINTR) {
      throw_file_error(name_, "read", errno, "Check its disk.");
    }
  }
}

}  // namespace byre::inline BYRE_ABI::detail
