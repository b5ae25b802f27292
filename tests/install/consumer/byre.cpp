// SPDX-License-Identifier: BSL-1.0
#include <byre/byre.hpp>

#include <cstdio>

int main() {
  byre::Storage weights = byre::Storage::allocate(4096);
  weights.mutable_data()[0] = std::byte{1};
  const byre::Storage snapshot = weights.lazy_clone();
  const bool copied = weights.materialize() == byre::Materialized::copied;
  std::puts(BYRE_VERSION_STRING);
  return copied && snapshot.data()[0] == std::byte{1} ? 0 : 1;
}
