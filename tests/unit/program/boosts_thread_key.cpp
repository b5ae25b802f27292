// SPDX-License-Identifier: BSL-1.0
// Boost creates its thread key before main(). If the first wait created it, and another thread
// forked in the meantime, no thread of the child could ever wait. This is a separate program,
// because it counts the keys.
#include <byre/sync/detail/parking_lot.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <atomic>
#include <cstdio>

namespace {

constinit bool is_waiting = false;
constinit int keys_created_by_wait = 0;
constinit int place = 0;

}  // namespace

extern "C" int pthread_key_create(pthread_key_t* key, void (*at_end)(void*)) noexcept {
  static const auto real = reinterpret_cast<int (*)(pthread_key_t*, void (*)(void*))>(
      ::dlsym(RTLD_NEXT, "pthread_key_create"));
  keys_created_by_wait += is_waiting ? 1 : 0;
  return real(key, at_end);
}

int main() {
  using namespace byre::sync::detail;
  std::atomic<bool> keeps_waiting = true;
  pthread_t waker{};
  // Starts the waker under the lock of the bucket, which this thread then releases by sleeping.
  const auto condition = [&] {
    if (waker == pthread_t{}) {
      ::pthread_create(
          &waker, nullptr,
          [](void* erased) -> void* {
            unpark_all(&place);  // returns only after the waiter has gone to sleep
            static_cast<std::atomic<bool>*>(erased)->store(false);
            unpark_all(&place);
            return nullptr;
          },
          &keeps_waiting);
    }
    return keeps_waiting.load();
  };
  is_waiting = true;
  park(&place, condition);
  is_waiting = false;
  ::pthread_join(waker, nullptr);
  std::printf("a wait created %d keys\n", keys_created_by_wait);
  return keys_created_by_wait == 0 ? 0 : 1;
}
