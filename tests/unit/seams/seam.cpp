// SPDX-License-Identifier: BSL-1.0
// Compiled for each seam of the program, with its name in the macro SEAM.
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include "seam.hpp"

namespace {

const char* check(std::size_t nbytes) {
  byre::Buffer buffer = byre::Buffer::allocate(nbytes);
  buffer.mutable_data()[0] = std::byte{1};
  byre::Buffer clone = buffer;
  if (clone.data() != buffer.data() || buffer.use_count() != 2) {
    return "a lazy clone does not share its data";
  }
  clone.mutable_data()[0] = std::byte{2};
  if (buffer.data()[0] != std::byte{1} || clone.data()[0] != std::byte{2}) {
    return "a write is visible in the other buffer";
  }
  if (byre::Storage::allocate(nbytes).lazy_clone().nbytes() != nbytes) {
    return "a storage has another size";
  }
  return BYRE_STATS && byre::stats::snapshot().copies != 1 ? "the count of copies is wrong"
                                                           : nullptr;
}

}  // namespace

const Seam SEAM{check, &byre::default_allocator()};
