// SPDX-License-Identifier: BSL-1.0
// Two libraries of a program that each contain byre share no state of byre. This file is compiled
// three times: as the library `first`, as the library `second`, and as the program.
#include <cstdint>

struct Counted {
  std::int64_t lazy_clones;
  std::int64_t copies;
  const void* default_allocator;
};

/// Lazily clones a buffer and writes it, `count` times. Returns the counters of the byre in this
/// library, and the address of its default allocator.
[[gnu::visibility("default")]] Counted first(int count);
[[gnu::visibility("default")]] Counted second(int count);

#if defined(COPY)

#include <byre/byre.hpp>

Counted COPY(int count) {
  byre::Buffer buffer = byre::Buffer::allocate(64);
  for (int times = 0; times < count; ++times) {
    const byre::Buffer clone = buffer;
    buffer.mutable_data()[0] = std::byte{1};
  }
  const byre::stats::Counters counters = byre::stats::snapshot();
  return {counters.lazy_clones, counters.copies, &byre::default_allocator()};
}

#else

int main() {
  const Counted one = first(3);
  const Counted another = second(5);
  const bool are_apart = one.lazy_clones == 3 && one.copies == 3 && another.lazy_clones == 5 &&
                         another.copies == 5 && one.default_allocator != another.default_allocator;
  return are_apart ? 0 : 1;
}

#endif
