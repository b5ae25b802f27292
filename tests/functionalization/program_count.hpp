// SPDX-License-Identifier: BSL-1.0
/// How many random programs there are: BYRE_FUNCTIONALIZATION_PROGRAMS of the environment, or
/// 20,000.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace byre::test {

inline std::size_t program_count() {
  const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_PROGRAMS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20'000;
}

}  // namespace byre::test
