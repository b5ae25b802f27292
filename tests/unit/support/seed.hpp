// SPDX-License-Identifier: BSL-1.0
/// The seed of a randomized test: printed, so that a failure can be repeated by giving it back in
/// the environment variable BYRE_TEST_SEED.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace byre::test {

inline std::uint64_t seed() {
  const char* given = std::getenv("BYRE_TEST_SEED");
  const std::uint64_t chosen =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("BYRE_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
  std::fflush(stdout);
  return chosen;
}

}  // namespace byre::test
