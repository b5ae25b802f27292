// SPDX-License-Identifier: BSL-1.0
#include <byre/byre.hpp>

#include <cstdio>

int main() {
  byre::Storage weights = byre::Storage::allocate(4096);
  weights.mutable_data()[0] = std::byte{1};
  const byre::Storage snapshot = weights.lazy_clone();
  const bool copied = weights.materialize() == byre::Materialized::copied;
  // The textbook form runs on Boost.Thread's locks in the program that uses it.
  byre::basic_share_lock<byre::sync::Boost> lock;
  std::puts(BYRE_VERSION_STRING);
  return copied && lock.is_unique() && snapshot.data()[0] == std::byte{1} ? 0 : 1;
}
