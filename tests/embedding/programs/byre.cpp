// SPDX-License-Identifier: BSL-1.0
#include <byre/byre.hpp>

#include <cstdio>

// Whether a write to one of two sharing objects leaves the other unchanged.
template <class Bytes>
static bool writes_stay_apart(Bytes first) {
  first.mutable_data()[0] = std::byte{1};
  Bytes second = first.lazy_clone();
  const bool shared = second.shares_data_with(first);
  first.mutable_data()[0] = std::byte{2};
  return shared && !second.shares_data_with(first) && second.data()[0] == std::byte{1} &&
         first.data()[0] == std::byte{2};
}

int main() {
  const bool good = writes_stay_apart(byre::Buffer::allocate(1 << 16)) &&
                    writes_stay_apart(byre::Storage::allocate(1 << 16));
  std::printf("byre %s: %s\n", BYRE_VERSION_STRING, good ? "good" : "a write changed the clone");
  return good ? 0 : 1;
}
