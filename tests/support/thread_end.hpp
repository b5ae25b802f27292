// SPDX-License-Identifier: BSL-1.0
/// The very end of a thread.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>

namespace byre::test {

/// By a thread: `act` runs at its end, after the destructors of thread-local objects, and after what the
/// library does there if it has seen a thread before.
inline void at_thread_end(std::function<void()> act) {
  static const pthread_key_t key = [] {
    pthread_key_t created{};
    ::pthread_key_create(&created, [](void* kept) {
      const std::unique_ptr<std::function<void()>> last(static_cast<std::function<void()>*>(kept));
      (*last)();
    });
    return created;
  }();
  ::pthread_setspecific(key, std::make_unique<std::function<void()>>(std::move(act)).release());
}

}  // namespace byre::test
