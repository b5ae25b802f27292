// SPDX-License-Identifier: BSL-1.0
/// A thread's cache of small blocks. A write to a small shared buffer takes a block and releases
/// one, and what malloc costs for the two is more than the copy.
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

namespace byre::inline v0 {

// Tells AddressSanitizer that idle memory is unowned, so that it reports a use after release of recycled memory.

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

}  // namespace byre::inline v0

namespace byre::inline v0::detail {

/// The idle small blocks of one thread, in lists by size, a whole number of lines. Used by its
/// thread only: a block goes to the cache of whichever thread releases it.
class ThreadCache {
 public:
  static constexpr std::size_t line_nbytes = data_alignment;
  /// A page of data, with the longest header that is likely.
  static constexpr std::size_t most_lines = 68;
  /// The most bytes a cached block has, prefix included.
  static constexpr std::size_t most_nbytes = most_lines * line_nbytes;
  /// Idle blocks of one size that a cache holds at most, and at most this many bytes of them.
  static constexpr std::size_t most_of_a_size = 64;
  static constexpr std::size_t most_nbytes_of_a_size = std::size_t{32} << 10;

  /// `is_watched`: idle blocks are poisoned, but for their records, through which LeakSanitizer finds
  /// the next. The library says so, since who includes this may be built otherwise.
  explicit ThreadCache(bool is_watched = watched_by_address_sanitizer) noexcept
      : is_watched_(is_watched) {}
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache() { clear(); }

  /// Bytes of a block for `request`, at most most_nbytes: whole lines, at least one, which the
  /// record of an idle block lies in.
  static constexpr std::size_t nbytes_for(const Request& request) noexcept {
    const std::size_t nbytes = request.prefix + request.nbytes;
    return nbytes == 0 ? line_nbytes : (nbytes + line_nbytes - 1) / line_nbytes * line_nbytes;
  }

  /// A block for `request`, at most most_nbytes, or one without data if none is idle.
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

  /// False if the block that ends at `end` is too large to be cached, or enough are.
  bool put(void* base, const void* end) noexcept {
    std::byte* const first = first_line(base);
    return put(base, first, static_cast<std::size_t>(static_cast<const std::byte*>(end) - first));
  }
  /// The same of a block whose first line is known, and maybe its size when this is compiled.
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

  /// Gives all back.
  void clear() noexcept;

 private:
  struct Idle {
    Idle* next;
    void* base;
    std::size_t count;  // of the list from here on
  };

  static std::byte* first_line(void* base) noexcept {
    return static_cast<std::byte*>(base) + -reinterpret_cast<std::uintptr_t>(base) % line_nbytes;
  }

  std::array<Idle*, most_lines> idle_{};
  bool is_watched_;
};

/// That of the calling thread: null before it first releases a small block, and once it is ending.
BYRE_API BYRE_TLS_MODEL extern constinit thread_local ThreadCache* this_threads_cache;

/// A block for `request` from the calling thread's cache, or one without data.
inline Block take_from_thread_cache(const Request& request) noexcept {
  if (request.nbytes <= ThreadCache::most_nbytes - request.prefix && this_threads_cache != nullptr)
      [[likely]] {
    return this_threads_cache->take(request);
  }
  return {nullptr, 0, nullptr};
}

/// Makes it, if this thread may have one and there is memory.
[[gnu::cold]] BYRE_API ThreadCache* make_thread_cache() noexcept;

/// The same, made if there is none yet: null if this thread may not have one, or there is no memory.
inline ThreadCache* thread_cache() noexcept {
  ThreadCache* const cache = this_threads_cache;
  return cache != nullptr ? cache : make_thread_cache();
}

/// True iff the block, of `nbytes` from its first line on, now lies in the calling thread's cache.
inline bool put_in_thread_cache(void* base, std::byte* first, std::size_t nbytes) noexcept {
  ThreadCache* const cache = thread_cache();
  return cache != nullptr && cache->put(base, first, nbytes);
}

}  // namespace byre::inline v0::detail
