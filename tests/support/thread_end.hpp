// SPDX-License-Identifier: BSL-1.0
/// at_thread_end(): runs code at the very end of a thread.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>

namespace byre::test {

/// Runs `act` at the end of the calling thread: after the destructors of its thread-local objects,
/// and, if byre has already registered actions at thread ends in this process, after those actions.
inline void at_thread_end(std::function<void()> act) {
  static const pthread_key_t key = [] {
    pthread_key_t created{};
    ::pthread_key_create(&created, [](void* raw) {
      const std::unique_ptr<std::function<void()>> last(static_cast<std::function<void()>*>(raw));
      (*last)();
    });
    return created;
  }();
  ::pthread_setspecific(key, std::make_unique<std::function<void()>>(std::move(act)).release());
}

}  // namespace byre::test
