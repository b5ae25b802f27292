// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/storage/detail/output_file.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace byre::inline v0::detail {

namespace fs = std::filesystem;

namespace {

/// What a chain of symbolic links leads to, which is written in place of the links themselves.
fs::path resolved(const fs::path& path) {
  std::error_code failure;
  fs::path target = fs::weakly_canonical(path, failure);
  return failure ? path : target;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(resolved(path)) {
  // A name of its own, as others may write the same file at the same time.
  for (unsigned number = 0; file_ == nullptr; ++number) {
    temporary_ = path_;
    temporary_ += std::string(".").append(std::to_string(number)).append(".part");
    file_ = std::fopen(temporary_.c_str(), "wbxe");
    if (file_ == nullptr && errno != EEXIST) {
      refuse(errno);
    }
  }
  // Before there is anything to read in it.
  std::error_code failure;
  const fs::file_status replaced = fs::status(path_, failure);
  if (fs::is_regular_file(replaced)) {
    fs::permissions(temporary_, replaced.permissions(), failure);
    if (failure) {
      discard();
      refuse(failure.value());
    }
  }
}

OutputFile::~OutputFile() {
  if (!is_committed_) {
    discard();
  }
}

void OutputFile::discard() noexcept {
  if (file_ != nullptr) {
    std::fclose(std::exchange(file_, nullptr));
  }
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void OutputFile::write(const void* data, std::size_t nbytes) {
  if (std::fwrite(data, 1, nbytes, file_) != nbytes) {
    refuse(errno);
  }
}

void OutputFile::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    refuse(errno);
  }
  std::error_code failure;
  fs::rename(temporary_, path_, failure);
  if (failure) {
    refuse(failure.value());
  }
  is_committed_ = true;
}

void OutputFile::refuse(int error) const {
  throw FileError(
      format_text("cannot write the file \"%.700s\": %s. What was there is unchanged; choose "
                  "another place, or make room.",
                  path_.c_str(), std::strerror(error)));
}

}  // namespace byre::inline v0::detail
