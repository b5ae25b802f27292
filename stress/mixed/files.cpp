// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <string>

namespace byre::stress {

void write_content_file(const std::filesystem::path& path, std::size_t nbytes, Content content) {
  std::vector<std::byte> bytes(nbytes);
  write_content(bytes.data(), nbytes, content);
  test::write_file(path, bytes.data(), nbytes);
}

Files::Files() {
  // Less than a head, not whole pages, and as large as what the pool recycles.
  for (const std::size_t nbytes : {std::size_t{7}, std::size_t{5000}, std::size_t{1} << 20}) {
    const Content content{files_.size() + 1, 1};
    files_.push_back({folder_ / std::to_string(nbytes), content});
    write_content_file(files_.back().path, nbytes, content);
  }
}

}  // namespace byre::stress
