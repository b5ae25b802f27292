// SPDX-License-Identifier: BSL-1.0
#include "random.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace byre::test {

std::uint64_t seed() {
  const char* given = std::getenv("BYRE_TEST_SEED");
  const std::uint64_t chosen =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("BYRE_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
  std::fflush(stdout);
  return chosen;
}

}  // namespace byre::test
