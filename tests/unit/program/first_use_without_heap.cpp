// SPDX-License-Identifier: BSL-1.0
// What byre makes on first use needs no heap: the first calls of a program whose heap is exhausted
// allocate data, clone and copy it; it is the storage over it that is refused, which is on the heap. A
// program of its own, since there is one first use in each.
#include <byre/byre.hpp>

#include <cstdio>
#include <string_view>

#include "support/failing_new.hpp"

int main() {
  using byre::test::news_before_failure;
  int refused = 0;
  for (int round = 0; round < 2; ++round) {
    byre::Buffer buffer;
    byre::Buffer clone;
    try {
      news_before_failure = 0;
      buffer = byre::Buffer::allocate(std::size_t{1} << 20);
      clone = buffer;
      clone.mutable_data()[0] = std::byte{1};
      const byre::Storage storage(buffer);
    } catch (const byre::OutOfMemory& error) {
      news_before_failure = byre::test::never_fails;
      std::puts(error.what());
      const bool is_of_the_storage =
          std::string_view(error.what()).find("for a storage") != std::string_view::npos;
      const bool was_copied = clone.nbytes() != 0 && clone.data() != buffer.data();
      refused += is_of_the_storage && was_copied ? 1 : 0;
    }
  }
  news_before_failure = byre::test::never_fails;
  std::printf("%d storages were refused\n", refused);
  return refused == 2 && byre::stats::snapshot().live_bytes == 0 ? 0 : 1;
}
