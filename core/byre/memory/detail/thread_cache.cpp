// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/thread_cache.hpp>

#include <cstdlib>
#include <new>

namespace byre::inline v0::detail {

BYRE_TLS_MODEL constinit thread_local ThreadCache* this_threads_cache = nullptr;

namespace {

/// True once the thread is ending: what its other thread-local objects release is freed.
constinit thread_local bool thread_ended = false;

/// A block that malloc keeps idle AddressSanitizer watches for longer than one that the next request
/// takes, so there it takes a wish to have caches too.
bool may_have_caches() noexcept {
  return !watched_by_address_sanitizer || std::getenv("BYRE_ASAN_THREAD_CACHE") != nullptr;
}

struct AtThreadEnd {
  ~AtThreadEnd() {
    thread_ended = true;
    delete this_threads_cache;
    this_threads_cache = nullptr;
  }
};

}  // namespace

void ThreadCache::clear() noexcept {
  for (Idle*& list : idle_) {
    while (list != nullptr) {
      void* base = list->base;
      list = list->next;
      std::free(base);
    }
  }
}

ThreadCache* make_thread_cache() noexcept {
  if (may_have_caches() && !thread_ended) {
    [[maybe_unused]] thread_local AtThreadEnd at_thread_end;
    this_threads_cache = new (std::nothrow) ThreadCache;
  }
  return this_threads_cache;
}

}  // namespace byre::inline v0::detail
