// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace byre::stress {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Less than a head, not whole pages, and as large as what the pool recycles.
constexpr std::size_t sizes[] = {7, 5000, std::size_t{1} << 20};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "byre-stress-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail("cannot make a folder such as " + name);
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::size_t nbytes, Content content) {
  std::vector<std::byte> bytes(nbytes);
  write_content(bytes.data(), nbytes, content);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(nbytes));
  if (!file.flush()) {
    fail("cannot write " + path.string());
  }
}

Files::Files() {
  for (const std::size_t nbytes : sizes) {
    const Content content{files_.size() + 1, 1};
    files_.push_back({folder() / std::to_string(nbytes), content});
    write_file(files_.back().path, nbytes, content);
  }
}

std::ptrdiff_t mappings_of(const std::filesystem::path& folder) {
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

}  // namespace byre::stress
