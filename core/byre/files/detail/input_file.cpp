// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

OpenedFile open_regular_file(const FileName& name, const char* operation) {
  Descriptor file = system::open_to_read(name.c_str());
  const std::optional<system::FileStatus> status = system::status_of(file);
  if (!status) {
    const std::error_code error = system::last_error();
    if (error == std::errc::no_such_file_or_directory) {
      throw_file_error(name, operation, "there is no such file",
                       "Check the path, and the directory that it is relative to.");
    }
    throw_file_error(name, operation, error,
                     "Check the path, its permissions and the limit of open files.");
  }
  if (!status->is_regular) {
    throw_file_error(name, operation, "it is not a regular file",
                     "Copy its bytes into a file, or into memory.");
  }
  if (std::uintmax_t{status->nbytes} > std::size_t{PTRDIFF_MAX}) {
    const Text why = format_text("it has %ju bytes, and an object has at most %td bytes",
                                 std::uintmax_t{status->nbytes}, PTRDIFF_MAX);
    throw_file_error(name, operation, why.chars.data(), "Split it into smaller files.");
  }
  return {std::move(file), static_cast<std::size_t>(status->nbytes)};
}

void throw_file_error(const FileName& name, const char* operation, std::error_code error,
                      const char* advice) {
  if (error == std::errc::not_enough_memory) {
    throw OutOfMemory(
        format_text("out of memory: the system lacks the memory to %s the file \"%.700s\". Release "
                    "tensors and buffers, or trim the recycling pool.",
                    operation, name.c_str()));
  }
  throw_file_error(name, operation, system::text_of(error).chars.data(), advice);
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
    const std::ptrdiff_t got = system::read_at(file_.descriptor, next, nbytes, offset_);
    if (got > 0) {
      next += got;
      offset_ += static_cast<std::size_t>(got);
      nbytes -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      const Text why = format_text("it ended with %zu bytes still to read", nbytes);
      throw_file_error(name_, "read", why.chars.data(),
                       "Check whether another program truncated it.");
    } else if (const std::error_code error = system::last_error();
               error == std::errc::bad_file_descriptor) {
      throw_file_error(name_, "read", "other code closed its descriptor",
                       "Close only descriptors that your code opened.");
    } else {
      throw_file_error(name_, "read", error, "Check its disk.");
    }
  }
}

}  // namespace byre::inline BYRE_ABI::detail
