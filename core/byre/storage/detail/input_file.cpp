// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/storage/detail/input_file.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace byre::inline v0::detail {

namespace fs = std::filesystem;

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  std::error_code failure;
  const fs::file_status status = fs::status(path_, failure);
  if (status.type() == fs::file_type::not_found) {
    refuse("there is no such file", "Check the path, and the directory it is relative to.");
  }
  if (failure) {
    refuse(failure.message().c_str(), "Check the path and its permissions.");
  }
  if (!fs::is_regular_file(status)) {  // opening a pipe would wait for a writer
    refuse("it is not a regular file", "Copy what it has into a file, or into memory.");
  }
  const std::uintmax_t nbytes = fs::file_size(path_, failure);
  if (!failure && nbytes > max_nbytes) {
    refuse("it has more bytes than an object can have on this machine", "Read it in parts.");
  }
  nbytes_ = static_cast<std::size_t>(nbytes);
  file_ = failure ? nullptr : std::fopen(path_.c_str(), "rbe");
  if (file_ == nullptr) {
    refuse(failure ? failure.message().c_str() : std::strerror(errno),
           "Check its permissions and the limit of open files.");
  }
}

void InputFile::read(void* destination, std::size_t nbytes) {
  if (std::fread(destination, 1, nbytes, file_) == nbytes) {
    return;
  }
  if (std::ferror(file_) != 0) {
    refuse(std::strerror(errno), "Check the disk it is on.");
  }
  refuse("it ends too early", "Was it cut short while it was read?");
}

void InputFile::seek(std::size_t offset) {
  if (std::fseek(file_, static_cast<long>(offset), SEEK_SET) != 0) {
    refuse(std::strerror(errno), "Check the disk it is on.");
  }
}

void InputFile::refuse(const char* why, const char* advice) const {
  throw FileError(
      format_text("cannot read the file \"%.700s\": %s. %s", path_.c_str(), why, advice));
}

}  // namespace byre::inline v0::detail
