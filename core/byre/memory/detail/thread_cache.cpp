// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/sync/detail/thread_end.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

BYRE_TLS_MODEL constinit thread_local ThreadCache* this_threads_cache = nullptr;

namespace {

void delete_cache() noexcept {
  delete std::exchange(this_threads_cache, nullptr);
}

/// Deletes the cache at the end of the thread. Blocks that are released afterwards are freed.
constinit thread_local sync::detail::AtThreadEnd at_thread_end(&delete_cache);

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

ThreadCache* make_thread_cache() noexcept {
  if (may_have_caches() && at_thread_end.ensure_registered()) {
    // A user's operator new may use byre, and may thus already have created this thread's cache.
    std::unique_ptr<ThreadCache> made(new (std::nothrow) ThreadCache);
    if (this_threads_cache == nullptr) {
      this_threads_cache = made.release();
    }
  }
  return this_threads_cache;
}

}  // namespace byre::inline BYRE_ABI::detail
