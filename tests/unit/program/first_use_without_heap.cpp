// SPDX-License-Identifier: BSL-1.0
// What byre makes on first use needs no heap: the first calls of a program whose heap is exhausted
// either work or throw an Error. A program of its own, since there is one first use in each.
#include <byre/byre.hpp>

#include <cstdio>

#include "support/failing_new.hpp"

int main() {
  using byre::test::news_until_failure;
  int worked = 0;
  int refused = 0;
  for (int round = 0; round < 2; ++round) {
    try {
      news_until_failure = 0;
      byre::Buffer buffer = byre::Buffer::allocate(std::size_t{1} << 20);
      byre::Buffer clone = buffer;
      clone.mutable_data()[0] = std::byte{1};
      const byre::Storage storage(buffer);
      ++worked;
    } catch (const byre::OutOfMemory& error) {
      news_until_failure = byre::test::never_fails;
      std::puts(error.what());
      ++refused;
    }
  }
  news_until_failure = byre::test::never_fails;
  // First the counters do without their heap; then a storage cannot.
  std::printf("%d worked, %d refused\n", worked, refused);
  return worked == (BYRE_STATS ? 1 : 0) && worked + refused == 2 &&
                 byre::stats::snapshot().live_bytes == 0
             ? 0
             : 1;
}
