// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/interop/detail/zip_bytes.hpp>

#include <cstring>

namespace byre::inline v0::detail {

void ZipBytes::read(std::size_t offset, std::span<std::byte> destination) const {
  BYRE_ASSERT(offset <= nbytes_ && destination.size() <= nbytes_ - offset,
              "an archive is read within its bytes");
  if (destination.empty()) {
    return;
  }
  if (file_ == nullptr) {
    std::memcpy(destination.data(), memory_.data() + offset, destination.size());
    return;
  }
  file_->seek(offset);
  file_->read(destination.data(), destination.size());
}

}  // namespace byre::inline v0::detail
