// SPDX-License-Identifier: BSL-1.0
#include "output_file.hpp"

#include "failure.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace examples {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(path_.string() + ".part") {
  file_ = std::fopen(temporary_.c_str(), "wbe");
  if (file_ == nullptr) {
    fail("create", errno);
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
}

void OutputFile::write(const void* data, std::size_t nbytes) {
  if (std::fwrite(data, 1, nbytes, file_) != nbytes) {
    fail("write", errno);
  }
}

void OutputFile::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    fail("write", errno);
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    fail("rename a file to", error.value());
  }
  committed_ = true;
}

void OutputFile::fail(const char* what, int error) const {
  fail_with_error(std::string("Cannot ") + what + " " + path_.string(), error);
}

}  // namespace examples
