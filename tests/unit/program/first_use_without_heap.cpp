// SPDX-License-Identifier: BSL-1.0
// The objects that byre creates on first use need no heap. The heap of this program is exhausted,
// and its first calls allocate, clone and copy data. Only the creation of a storage fails, because
// a storage is on the heap. This is a separate program, because a process has only one first use.
#include <byre/byre.hpp>

#include <cstdio>
#include <string_view>

#include "support/failing_new.hpp"

int main() {
  using byre::test::news_before_failure;
  int failed = 0;
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
      failed += is_of_the_storage && was_copied ? 1 : 0;
    }
  }
  news_before_failure = byre::test::never_fails;
  std::printf("%d storages failed\n", failed);
  return failed == 2 && byre::stats::snapshot().live_bytes == 0 ? 0 : 1;
}
