// SPDX-License-Identifier: BSL-1.0
/// Whether this program runs on an emulated machine: `./dev cross` says so, in the environment.
#pragma once

#include <cstdlib>

#include "support/sanitized.hpp"

namespace byre::test {

inline bool is_emulated() {
  return std::getenv("BYRE_EMULATED") != nullptr;
}

/// Of a child of a fork: neither the thread sanitizer nor QEMU 7.2 lets one start threads.
inline bool a_child_may_start_threads() {
  return !is_thread_sanitized && !is_emulated();
}

/// How a death test begins where a program may have had threads: the program starts itself again. An emulator's
/// system does not know how to start one, and forks.
inline const char* death_test_style() {
  return is_emulated() ? "fast" : "threadsafe";
}

}  // namespace byre::test
