// SPDX-License-Identifier: BSL-1.0
/// at_thread_end(): runs code at the very end of a thread.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/process.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace byre::test {

/// Runs `act` at the end of the calling thread: after the destructors of its thread-local objects,
/// and, if byre has already registered actions at thread ends in this process, after those actions.
inline void at_thread_end(std::function<void()> act) {
  static system::ThreadVariable last([](void* raw) {
    const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(raw));
    (*owned)();
  });
  last.set(std::make_unique<std::function<void()>>(std::move(act)).release());
}

}  // namespace byre::test

/// Skips a test whose thread-local objects use other thread-local objects in their destructors.
#define BYRE_NEED_NATIVE_TLS() \
  if (!BYRE_NATIVE_TLS)        \
  GTEST_SKIP() << "this compiler frees thread-local variables before their destructors run"
