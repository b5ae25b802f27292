// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/sync/detail/heap_thread_state.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/thread_end.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

#if BYRE_NATIVE_TLS
BYRE_TLS_MODEL constinit thread_local ThreadCache* cache_of_thread = nullptr;
#endif

namespace {

#if BYRE_NATIVE_TLS
/// Deletes the cache at the end of the thread. Blocks that are released afterwards are freed.
constinit thread_local sync::detail::AtThreadEnd at_thread_end([]() noexcept {
  delete std::exchange(cache_of_thread, nullptr);
});
#else
using Caches = sync::detail::HeapThreadState<ThreadCache, [](ThreadCache*) noexcept {}>;
#endif

/// AddressSanitizer detects uses of a freed block for longer than uses of a cached block. Builds
/// with AddressSanitizer therefore have caches only on request.
bool may_have_caches() noexcept {
  return !watched_by_address_sanitizer || std::getenv("BYRE_ASAN_THREAD_CACHE") != nullptr;
}

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

#if BYRE_NATIVE_TLS

ThreadCache* make_thread_cache() noexcept {
  if (may_have_caches() && at_thread_end.ensure_registered()) {
    // A user's operator new may use byre, and may thus already have created this thread's cache.
    std::unique_ptr<ThreadCache> made(new (std::nothrow) ThreadCache);
    if (cache_of_thread == nullptr) {
      cache_of_thread = made.release();
    }
  }
  return cache_of_thread;
}

#else

ThreadCache* this_threads_cache() noexcept {
  return sync::no_destructor<Caches>().get();
}

ThreadCache* make_thread_cache() noexcept {
  return may_have_caches() ? sync::no_destructor<Caches>().get_or_make() : nullptr;
}

#endif

}  // namespace byre::inline BYRE_ABI::detail
