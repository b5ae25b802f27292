// SPDX-License-Identifier: BSL-1.0
// A DLL that contains byre as a static library.
#include <byre/storage/buffer.hpp>

#include <thread>

extern "C" [[gnu::dllexport]] int use_byre() {
  const byre::Buffer buffer = byre::Buffer::allocate(1000);
  const byre::Buffer large = byre::Buffer::allocate(std::size_t{1} << 20);
  int copies = 0;
  for (const byre::Buffer& shared : {buffer, large}) {
    byre::Buffer clone = shared;
    std::thread([&clone] { clone.mutable_data()[0] = std::byte{1}; }).join();
    copies += clone.data() != shared.data() ? 1 : 0;
  }
  return copies;
}
