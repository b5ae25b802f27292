// SPDX-License-Identifier: BSL-1.0
// A plugin that links byre statically. It leaves idle blocks in the pool and in the cache of its
// thread.
#include <byre/byre.hpp>

extern "C" [[gnu::visibility("default")]] int use_byre() {
  byre::Buffer large = byre::Buffer::allocate(std::size_t{8} << 20);
  byre::Buffer small = byre::Buffer::allocate(1000);
  const byre::Buffer clones[] = {large, small};
  large.mutable_data()[0] = std::byte{1};
  small.mutable_data()[0] = std::byte{1};
  return clones[0].data() != large.data() && clones[1].data() != small.data() ? 0 : 1;
}
