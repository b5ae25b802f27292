// SPDX-License-Identifier: BSL-1.0
// A buffer without bytes that comes from a library with hidden symbols, which has header objects of
// its own, is without bytes here too.
#include <byre/byre.hpp>

#include <utility>

byre::Buffer buffer_without_bytes();

int main() {
  byre::Buffer empty = buffer_without_bytes();
  byre::Buffer clone = empty;
  byre::Buffer moved = std::move(clone);
  empty = moved;
  const bool is_empty = empty.is_unique() && empty.data() == nullptr && empty.use_count() == 0 &&
                        empty.mutable_data() == nullptr && !empty.shares_data_with(moved) &&
                        &empty.allocator() == &byre::default_allocator();
  empty.resize(8);
  return is_empty && empty.nbytes() == 8 ? 0 : 1;
}
