// SPDX-License-Identifier: BSL-1.0
/// Whether this program runs on an emulated machine: `./dev cross` says so, in the environment.
#pragma once

#include <cstdlib>

namespace byre::test {

inline bool is_emulated() {
  return std::getenv("BYRE_EMULATED") != nullptr;
}

/// How a death test begins where a program may have had threads: the program starts itself again. An emulator's
/// system does not know how to start one, and forks.
inline const char* death_test_style() {
  return is_emulated() ? "fast" : "threadsafe";
}

}  // namespace byre::test
