// SPDX-License-Identifier: BSL-1.0
#include "temporary_folder.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>

namespace byre::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::random_device random;
  do {
    path_ = std::filesystem::temp_directory_path() / ("byre-test." + std::to_string(random()));
  } while (!std::filesystem::create_directory(path_));  // another process may use the name
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, const void* bytes, std::size_t nbytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(nbytes));
  if (!file.flush()) {
    fail("cannot write " + path.string());
  }
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  write_file(path, bytes.data(), bytes.size());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t mappings_of(const std::filesystem::path& folder) {
#if defined(__wasm__) || defined(_WIN32)
  return -1;  // /proc describes the program that interprets this one, or Wine
#endif
  std::ifstream maps("/proc/self/maps");
  if (!maps) {
    return -1;
  }
  std::ptrdiff_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(folder.string() + '/') != line.npos ? 1 : 0;
  }
  return count;
}

}  // namespace byre::test
