// SPDX-License-Identifier: BSL-1.0
/// Tests of the thread caches of small blocks.
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/memory/pool.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/heap_nbytes.hpp"
#include "support/thread_end.hpp"

namespace byre::test {
namespace {

using detail::ThreadCache;

constexpr std::size_t line = ThreadCache::line_nbytes;

/// A block from malloc, aligned like the pool's small blocks, with a size of `lines` cache lines.
struct Made {
  explicit Made(std::size_t lines) : base(std::malloc(lines * line + line)) {
    auto* at = static_cast<std::byte*>(base);
    end = at + -reinterpret_cast<std::uintptr_t>(at) % line + lines * line;
  }
  void* base;
  std::byte* end;
};

TEST(ThreadCache, hands_out_blocks_of_the_requested_size_last_in_first_out) {
  ThreadCache cache;
  const Made first(3);
  const Made second(3);
  ASSERT_TRUE(cache.put(first.base, first.end));
  ASSERT_TRUE(cache.put(second.base, second.end));
  const Block again = cache.take({.nbytes = 100, .prefix = 64});
  EXPECT_EQ(again.base, second.base);
  EXPECT_EQ(again.data, second.end - 2 * line);
  EXPECT_EQ(again.capacity, 2 * line);
  EXPECT_EQ(cache.take({.nbytes = 2 * line}).data, nullptr) << "the idle block has another size";
  EXPECT_EQ(cache.take({.nbytes = 3 * line + 1}).data, nullptr);
  EXPECT_EQ(cache.take({.nbytes = 2 * line + 1}).base, first.base);
  EXPECT_EQ(cache.take({.nbytes = 128, .prefix = 64}).data, nullptr);
  std::free(first.base);
  std::free(second.base);
}

TEST(ThreadCache, rejects_a_block_above_the_largest_size) {
  ThreadCache cache;
  const Made largest(ThreadCache::most_lines);
  const Made larger(ThreadCache::most_lines + 1);
  EXPECT_TRUE(cache.put(largest.base, largest.end));
  EXPECT_FALSE(cache.put(larger.base, larger.end));
  std::free(larger.base);
}

TEST(ThreadCache, limits_the_number_and_total_bytes_of_blocks_of_each_size) {
  for (const auto& [lines, most] : {std::pair{std::size_t{1}, ThreadCache::most_of_a_size},
                                    std::pair{std::size_t{64}, std::size_t{8}}}) {
    ThreadCache cache;
    for (std::size_t i = 0; i < most; ++i) {
      const Made made(lines);
      ASSERT_TRUE(cache.put(made.base, made.end)) << i;
    }
    const Made one_more(lines);
    EXPECT_FALSE(cache.put(one_more.base, one_more.end));
    cache.clear();
    EXPECT_TRUE(cache.put(one_more.base, one_more.end));
  }
}

TEST(ThreadCache, rounds_an_empty_request_up_to_a_cache_line) {
  EXPECT_EQ(ThreadCache::nbytes_for({.nbytes = 0, .prefix = 0}), line);
  EXPECT_EQ(ThreadCache::nbytes_for({.nbytes = 0, .prefix = 64}), line);
  EXPECT_EQ(ThreadCache::nbytes_for({.nbytes = 1, .prefix = 64}), 2 * line);
}

class CachesOfThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (watched_by_address_sanitizer && std::getenv("BYRE_ASAN_THREAD_CACHE") == nullptr) {
      GTEST_SKIP() << "with AddressSanitizer, caches require BYRE_ASAN_THREAD_CACHE";
    }
    default_pool().trim();
  }
};

TEST_F(CachesOfThreads, reuse_the_block_released_last) {
  // The size of the largest data whose block, including the header, is cached.
  constexpr std::size_t most = ThreadCache::most_nbytes - line;
  for (const auto& [nbytes, next] : {std::pair{std::size_t{100}, std::size_t{128}}, {most, most}}) {
    const std::byte* released = nullptr;
    {
      const Buffer buffer = Buffer::allocate(nbytes);
      released = buffer.data();
    }
    EXPECT_EQ(Buffer::allocate(next).data(), released) << nbytes;
  }
}

TEST_F(CachesOfThreads, are_not_shared_by_threads) {
  const std::byte* released = nullptr;
  const std::byte* elsewhere = nullptr;
  {
    const Buffer buffer = Buffer::allocate(100);
    released = buffer.data();
  }
  std::thread([&] {
    const Buffer buffer = Buffer::allocate(100);
    elsewhere = buffer.data();
  }).join();
  EXPECT_NE(elsewhere, released);
  EXPECT_EQ(Buffer::allocate(100).data(), released);
}

TEST_F(CachesOfThreads, are_emptied_only_by_a_trim_to_zero_bytes) {
  const Request request{.nbytes = 100, .prefix = 64};
  const Block block = default_pool().allocate(request);
  default_pool().deallocate(block);
  ASSERT_NE(detail::this_threads_cache(), nullptr);
  default_pool().trim(1);
  EXPECT_EQ(detail::take_from_thread_cache(request).data, block.data);
  default_pool().deallocate(block);
  default_pool().trim();
  EXPECT_EQ(detail::take_from_thread_cache(request).data, nullptr);
}

TEST_F(CachesOfThreads, are_not_recreated_by_a_release_after_their_destruction) {
#if defined(_WIN32)
  GTEST_SKIP() << "Windows calls functions at the end of a thread in no specified order";
#endif
  // Makes the library register its thread-end handler before the test registers its own handler.
  { const Buffer first = Buffer::allocate(100); }
  bool cached_before = false;
  bool cached = true;
  std::thread([&] {
    at_thread_end([&, late = Buffer::allocate(100)]() mutable {
      late = Buffer();
      cached = detail::this_threads_cache() != nullptr;
    });
    { const Buffer released = Buffer::allocate(100); }
    cached_before = detail::this_threads_cache() != nullptr;
  }).join();
  EXPECT_TRUE(cached_before);
  EXPECT_FALSE(cached);
}

struct Late {
  ~Late() {
    buffer = Buffer();
    *cached = detail::this_threads_cache() != nullptr;
  }
  Buffer buffer;
  bool* cached;
};

TEST_F(CachesOfThreads, accept_releases_by_thread_local_destructors) {
  BYRE_NEED_NATIVE_TLS();
#if defined(__wasm__)
  GTEST_SKIP() << "emscripten calls thread-local destructors among those of pthread keys";
#endif
  bool cached = false;
  std::thread([&] { thread_local Late late{Buffer::allocate(100), &cached}; }).join();
  EXPECT_TRUE(cached);
}

/// Fills the calling thread's cache with blocks of every size.
void fill_cache() {
  for (std::size_t nbytes = 0; nbytes < ThreadCache::most_nbytes; nbytes += line) {
    std::vector<Buffer> released;
    for (std::size_t count = 0; count < ThreadCache::most_of_a_size; ++count) {
      released.push_back(Buffer::allocate(nbytes));
    }
  }
}

TEST_F(CachesOfThreads, leave_nothing_on_the_heap_when_their_threads_end) {
  constexpr std::size_t threads = 64;
  constexpr std::size_t slack_of_a_thread = sizeof(ThreadCache) / 2;
  std::thread(fill_cache).join();  // malloc retains some memory of the first thread
  const std::optional<std::size_t> before = heap_nbytes();
  if (!before) {
    GTEST_SKIP() << "malloc does not report bytes in use";
  }
  for (std::size_t thread = 0; thread < threads; ++thread) {
    std::thread(fill_cache).join();
  }
  EXPECT_LT(heap_nbytes(), *before + threads * slack_of_a_thread);
}

TEST_F(CachesOfThreads, give_correct_copies_of_every_size_in_reused_blocks) {
  std::vector<std::byte> text(6000);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<std::byte>(i % 251);
  }
  for (std::size_t nbytes = 0; nbytes < text.size(); nbytes += nbytes < 600 ? 1 : 97) {
    Buffer original = Buffer::allocate(nbytes);
    if (nbytes != 0) {
      std::memcpy(original.mutable_data(), text.data(), nbytes);
    }
    for (int round = 0; round < 3; ++round) {  // blocks from malloc first, then from the cache
      Buffer clone = original;
      ASSERT_EQ(clone.materialize(), Materialized::copied);
      ASSERT_NE(clone.data(), original.data());
      ASSERT_TRUE(nbytes == 0 || std::memcmp(clone.data(), text.data(), nbytes) == 0) << nbytes;
    }
  }
}

/// Tests of caches in builds with AddressSanitizer.
class WatchedCaches : public CachesOfThreads {
 protected:
  void SetUp() override {
    if (!watched_by_address_sanitizer) {
      GTEST_SKIP() << "built without AddressSanitizer";
    }
    CachesOfThreads::SetUp();
  }

  /// The address of data of `nbytes` whose block is now idle in the cache.
  static std::byte* idle_block(std::size_t nbytes) {
    Buffer buffer = Buffer::allocate(nbytes);
    return buffer.mutable_data();
  }
};

TEST_F(WatchedCaches, a_use_of_an_idle_block_is_an_address_sanitizer_error) {
  std::byte* const idle = idle_block(2 * line);
  std::byte text[2 * line] = {};
  EXPECT_DEATH(text[0] = idle[0], "use-after-poison");
  EXPECT_DEATH(text[0] = idle[2 * line - 1], "use-after-poison");
  EXPECT_DEATH(idle[line] = text[0], "use-after-poison");
  EXPECT_DEATH(std::memcpy(text, idle, sizeof text), "use-after-poison");
  EXPECT_DEATH(std::memcpy(idle, text, sizeof text), "use-after-poison");
}

TEST_F(WatchedCaches, a_use_of_a_reused_block_is_no_address_sanitizer_error) {
  std::byte* const released = idle_block(100);
  Buffer again = Buffer::allocate(128);
  ASSERT_EQ(again.data(), released);
  std::memset(again.mutable_data(), 'b', 128);
  EXPECT_EQ(again.data()[127], std::byte{'b'});
}

}  // namespace
}  // namespace byre::test
