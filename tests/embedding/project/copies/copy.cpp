// SPDX-License-Identifier: BSL-1.0
#include <byre/byre.hpp>

#include "copy.hpp"

void COPY::clone_and_write(int count) {
  byre::Buffer buffer = byre::Buffer::allocate(64);
  for (int times = 0; times < count; ++times) {
    const byre::Buffer clone = buffer;
    buffer.mutable_data()[0] = std::byte{1};
  }
}

std::int64_t COPY::lazy_clones() {
  return byre::stats::snapshot().lazy_clones;
}

const void* COPY::default_allocator() {
  return &byre::default_allocator();
}
