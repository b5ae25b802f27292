// SPDX-License-Identifier: BSL-1.0
/// A thread's cache of small blocks. A write to a small shared buffer takes a block and releases
/// another, and the two calls of malloc and free would cost more than the copy.
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define BYRE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BYRE_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(BYRE_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace byre::inline BYRE_ABI {

// poison() and unpoison() tell AddressSanitizer which memory is idle, so that it reports uses of
// released blocks that byre recycles.

#if defined(BYRE_ADDRESS_SANITIZER)
inline constexpr bool watched_by_address_sanitizer = true;
#else
inline constexpr bool watched_by_address_sanitizer = false;
#endif

inline void poison([[maybe_unused]] const void* address,
                   [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(BYRE_ADDRESS_SANITIZER)
  __asan_poison_memory_region(address, nbytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* address,
                     [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(BYRE_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(address, nbytes);
#endif
}

}  // namespace byre::inline BYRE_ABI

namespace byre::inline BYRE_ABI::detail {

/// The idle small blocks of one thread, in one list per size. Sizes are multiples of a cache line.
/// Not thread-safe: only the cache's own thread uses it. A released block is put in the cache of
/// the thread that releases it.
class ThreadCache {
 public:
  static constexpr std::size_t line_nbytes = data_alignment;
  /// Enough for a page of data with the longest expected header.
  static constexpr std::size_t most_lines = 68;
  /// The maximum size of a cached block, including its prefix.
  static constexpr std::size_t most_nbytes = most_lines * line_nbytes;
  /// The maximum number of cached blocks of one size, and the maximum sum of their bytes.
  static constexpr std::size_t most_of_a_size = 64;
  static constexpr std::size_t most_nbytes_of_a_size = std::size_t{32} << 10;

  /// If `is_watched`, idle blocks are poisoned except for their records, which LeakSanitizer
  /// follows to the next block. This is a run-time flag of the library's build, because code that
  /// includes this header may be built without AddressSanitizer.
  explicit ThreadCache(bool is_watched = watched_by_address_sanitizer) noexcept
      : is_watched_(is_watched) {}
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache() { clear(); }

  /// The size of a block for `request`: a multiple of a cache line, and at least one line, which
  /// stores the record of an idle block. Requires a request of at most most_nbytes.
  static constexpr std::size_t nbytes_for(const Request& request) noexcept {
    const std::size_t nbytes = request.prefix + request.nbytes;
    return nbytes == 0 ? line_nbytes : (nbytes + line_nbytes - 1) / line_nbytes * line_nbytes;
  }

  /// Returns an idle block for `request`, or a block with null data if the cache has no block of
  /// that size. Requires a request of at most most_nbytes.
  Block take(const Request& request) noexcept {
    const std::size_t nbytes = nbytes_for(request);
    Idle*& list = idle_[nbytes / line_nbytes - 1];
    Idle* const idle = list;
    if (idle == nullptr) [[unlikely]] {
      return {nullptr, 0, nullptr};
    }
    list = idle->next;
    if (watched_by_address_sanitizer && is_watched_) {
      unpoison(idle, nbytes);
    }
    return {reinterpret_cast<std::byte*>(idle) + request.prefix, nbytes - request.prefix,
            idle->base};
  }

  /// Caches the block that ends at `end`. Returns false if the block is too large, or if a limit
  /// for blocks of its size is reached.
  bool put(void* base, const void* end) noexcept {
    std::byte* const first = first_line(base);
    return put(base, first, static_cast<std::size_t>(static_cast<const std::byte*>(end) - first));
  }
  /// Like put(base, end), for a caller that knows the address of the block's first cache line and,
  /// perhaps at compile time, the block's size.
  bool put(void* base, std::byte* first, std::size_t nbytes) noexcept {
    if (nbytes > most_nbytes) {
      return false;
    }
    Idle*& list = idle_[nbytes / line_nbytes - 1];
    const std::size_t count = list == nullptr ? 0 : list->count;
    if (count == most_of_a_size || (count + 1) * nbytes > most_nbytes_of_a_size) [[unlikely]] {
      return false;
    }
    list = ::new (first) Idle{list, base, count + 1};
    if (watched_by_address_sanitizer && is_watched_) {
      poison(list + 1, nbytes - sizeof(Idle));
    }
    return true;
  }

  /// Frees all cached blocks.
  void clear() noexcept;

 private:
  struct Idle {
    Idle* next;
    void* base;
    std::size_t count;  // length of the list that starts here
  };

  static std::byte* first_line(void* base) noexcept {
    return static_cast<std::byte*>(base) + -reinterpret_cast<std::uintptr_t>(base) % line_nbytes;
  }

  std::array<Idle*, most_lines> idle_{};
  bool is_watched_;
};

/// The cache of the calling thread. Null until the thread releases its first small block, and while
/// the thread ends.
#if BYRE_NATIVE_TLS
BYRE_API BYRE_TLS_MODEL extern constinit thread_local ThreadCache* cache_of_thread;
[[gnu::always_inline]] inline ThreadCache* this_threads_cache() noexcept {
  return cache_of_thread;
}
#else
BYRE_API ThreadCache* this_threads_cache() noexcept;
#endif

/// Returns a block for `request` from the calling thread's cache, or a block with null data.
inline Block take_from_thread_cache(const Request& request) noexcept {
  if (request.nbytes <= ThreadCache::most_nbytes - request.prefix) [[likely]] {
    if (ThreadCache* const cache = this_threads_cache(); cache != nullptr) [[likely]] {
      return cache->take(request);
    }
  }
  return {nullptr, 0, nullptr};
}

/// Creates the calling thread's cache. Returns null if the thread may not have a cache, or if there
/// is no memory.
[[gnu::cold]] BYRE_API ThreadCache* make_thread_cache() noexcept;

/// Returns the calling thread's cache, and creates it if necessary. Returns null if the thread may
/// not have a cache, or if there is no memory.
inline ThreadCache* thread_cache() noexcept {
  ThreadCache* const cache = this_threads_cache();
  return cache != nullptr ? cache : make_thread_cache();
}

/// Tries to put a block of `nbytes`, counted from its first line, in the calling thread's cache.
/// Returns true if the cache took it.
inline bool put_in_thread_cache(void* base, std::byte* first, std::size_t nbytes) noexcept {
  ThreadCache* const cache = thread_cache();
  return cache != nullptr && cache->put(base, first, nbytes);
}

}  // namespace byre::inline BYRE_ABI::detail
