// SPDX-License-Identifier: BSL-1.0
/// Whether this program runs on an emulated machine. `./dev cross` sets BYRE_EMULATED in the
/// environment.
#pragma once

#include <cstdlib>

#include "support/sanitized.hpp"

namespace byre::test {

inline bool is_emulated() {
  return std::getenv("BYRE_EMULATED") != nullptr;
}

/// Whether a child of a fork may start threads. ThreadSanitizer and QEMU 7.2 do not support it.
inline bool a_child_may_start_threads() {
  return !is_thread_sanitized && !is_emulated();
}

/// The style of death tests for programs that may have had threads: "threadsafe", in which the
/// program starts itself again. An emulated program cannot start itself, so its death tests only
/// fork ("fast").
inline const char* death_test_style() {
  return is_emulated() ? "fast" : "threadsafe";
}

}  // namespace byre::test
