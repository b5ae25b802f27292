// SPDX-License-Identifier: BSL-1.0
/// Which blocks the pool reuses, and for which requests.
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "pool_test.hpp"
#include "support/scattered_bytes.hpp"

namespace byre::test {
namespace {

using RecyclingPoolTest = PoolTest;

TEST_F(RecyclingPoolTest, reuses_a_released_block_for_one_request_only) {
  const Block released = release({100 * kib})[0];
  const Block again = take(100 * kib);
  EXPECT_EQ(again.data, released.data);
  EXPECT_EQ(again.capacity, released.capacity);
  EXPECT_EQ(again.base, released.base);
  EXPECT_EQ(source.maps(), 1);
  const Block fresh = take(100 * kib);
  EXPECT_NE(fresh.data, again.data);
}

TEST_F(RecyclingPoolTest, reuses_a_block_that_is_slightly_larger_than_requested) {
  const Block released = release({pages(108)})[0];
  const Block smaller = take(pages(100) - 7);
  EXPECT_EQ(smaller.data, released.data);
  EXPECT_EQ(smaller.capacity, pages(108));
}

TEST_F(RecyclingPoolTest, prefers_the_block_that_fits_best) {
  const auto blocks = release({pages(108), pages(102), pages(105)});
  const Block first = take(pages(101));
  const Block second = take(pages(101));
  const Block third = take(pages(101));
  EXPECT_EQ(first.data, blocks[1].data);
  EXPECT_EQ(second.data, blocks[2].data);
  EXPECT_EQ(third.data, blocks[0].data);
  EXPECT_EQ(source.maps(), 3);
}

TEST_F(RecyclingPoolTest, prefers_the_block_released_last_among_blocks_of_equal_size) {
  const auto blocks = release({pages(100), pages(100), pages(100)});
  const Block first = take(pages(100));
  const Block second = take(pages(95));
  // The block released last is most likely in the CPU's caches.
  EXPECT_EQ(first.data, blocks[2].data);
  EXPECT_EQ(second.data, blocks[1].data);
}

TEST_F(RecyclingPoolTest, reuses_no_block_that_is_too_small_or_over_an_eighth_larger) {
  const auto blocks = release({pages(19), pages(18)});
  const Block within = take(pages(16));
  EXPECT_EQ(within.data, blocks[1].data) << "16 + 2 pages are an eighth more";
  const Block fresh = take(pages(16));
  EXPECT_EQ(source.maps(), 3) << "19 pages are too many for 16";
  EXPECT_EQ(fresh.capacity, pages(16));
  const Block larger = take(pages(19) + 1);
  EXPECT_EQ(source.maps(), 4) << "19 pages are too few for a byte more";
  EXPECT_EQ(larger.capacity, pages(20));
}

TEST_F(RecyclingPoolTest, leaves_small_blocks_to_malloc) {
  const Block small = take(RecyclingPool::recycled_from - 1);
  EXPECT_EQ(address_of(small.data) % data_alignment, 0U);
  std::memset(small.data, 1, RecyclingPool::recycled_from - 1);
  const Block none = take(0);
  EXPECT_EQ(address_of(none.data) % data_alignment, 0U);
  // A lazy clone of empty borrowed memory calls allocate_copy() with a null source.
  const Block copy = pool->allocate_copy({0, 64}, nullptr, 0);
  EXPECT_NE(copy.data, nullptr);
  pool->deallocate(copy);
  EXPECT_EQ(source.maps(), 0);
  EXPECT_EQ(pool->idle_nbytes(), 0U);
}

TEST_F(RecyclingPoolTest, aligns_blocks_to_pages_and_large_blocks_to_huge_pages) {
  const std::size_t small_pages[] = {64 * kib, 64 * kib + 1, 1 * mib, 2 * mib - page_nbytes};
  const std::size_t huge_pages[] = {2 * mib - 1, 2 * mib, 2 * mib + 1, 9 * mib};
  const auto expect_begin_on = [&](std::size_t alignment, std::size_t nbytes) {
    const Block block = take(nbytes);
    EXPECT_EQ(source.last_alignment(), alignment) << nbytes;
    EXPECT_EQ(address_of(block.data) % alignment, 0U) << nbytes;
    EXPECT_LT(block.capacity - nbytes, page_nbytes) << nbytes;
  };
  for (const std::size_t nbytes : small_pages) {
    expect_begin_on(page_nbytes, nbytes);
  }
  for (const std::size_t nbytes : huge_pages) {
    expect_begin_on(huge_page_nbytes, nbytes);
  }
}

TEST_F(RecyclingPoolTest, reserves_a_prefix_of_1024_bytes_in_front_of_the_data) {
  const std::size_t sizes[] = {0, 100, 64 * kib, 3 * mib};
  for (const std::size_t nbytes : sizes) {
    for (int round = 0; round < 2; ++round) {  // a fresh block, then a recycled block
      const Block block = take(nbytes, 1024);
      std::memset(static_cast<std::byte*>(block.data) - 1024, 3, 1024 + block.capacity);
      give_back(block);
    }
  }
}

TEST_F(RecyclingPoolTest, reports_the_exact_number_of_idle_bytes) {
  release({pages(16), pages(100), pages(100) + 1});
  EXPECT_EQ(pool->idle_nbytes(), pages(16) + pages(100) + pages(101));
  const Block taken = take(pages(100));
  EXPECT_EQ(pool->idle_nbytes(), pages(16) + pages(101));
  give_back(taken);
  EXPECT_EQ(pool->idle_nbytes(), pages(16) + pages(100) + pages(101));
}

struct Copy {
  std::size_t source;   ///< bytes to copy
  std::size_t request;  ///< bytes of the block
};

TEST_F(RecyclingPoolTest, copies_every_byte_into_fresh_and_into_recycled_memory) {
  // Fresh memory is populated in steps of 2 MiB and copied in pieces of 128 KiB; these sizes are
  // around their borders.
  const std::size_t sizes[] = {1,         64 * kib - 1,  64 * kib,     128 * kib - 1,
                               128 * kib, 128 * kib + 1, 256 * kib,    2 * mib - 1,
                               2 * mib,   2 * mib + 1,   2 * mib + 63, 4 * mib - 1,
                               4 * mib,   4 * mib + 1,   4 * mib + 63, 9 * mib};
  std::vector<Copy> copies;
  for (const std::size_t nbytes : sizes) {
    copies.push_back({nbytes, nbytes});
    copies.push_back({nbytes - 1, nbytes});  // a resize copies fewer bytes than it requests
    copies.push_back({nbytes, nbytes + 100000});
  }
  const std::vector<std::byte> text = scattered_bytes(9 * mib);
  for (const Copy& copy : copies) {
    pool->trim();
    for (const char* memory : {"fresh", "recycled"}) {
      const int maps = source.maps();
      const Block block = pool->allocate_copy({copy.request, 64}, text.data(), copy.source);
      EXPECT_EQ(std::memcmp(text.data(), block.data, copy.source), 0)
          << memory << ", " << copy.source << " of " << copy.request;
      EXPECT_GE(block.capacity, copy.request);
      const bool fresh = memory[0] == 'f' && copy.request >= RecyclingPool::recycled_from;
      EXPECT_EQ(source.maps() - maps, fresh ? 1 : 0) << memory << ", " << copy.request;
      std::memset(block.data, 0xA5, block.capacity);
      pool->deallocate(block);
    }
  }
}

TEST(DefaultPool, is_the_default_allocator_limited_to_an_eighth_of_memory) {
  EXPECT_EQ(&default_allocator(), &default_pool());
  EXPECT_GT(RecyclingPool::default_limit_nbytes(), 0U);
  EXPECT_LE(RecyclingPool::default_limit_nbytes(), std::uint64_t{4} << 30);
  EXPECT_LE(RecyclingPool::default_limit_nbytes(), usable_memory_nbytes() / 8);
  EXPECT_EQ(default_pool().limit_nbytes(), RecyclingPool::default_limit_nbytes());
  EXPECT_TRUE(default_pool().device().is_cpu());
}

TEST_F(RecyclingPoolTest, stays_within_its_limit_if_a_large_block_evicts_small_ones) {
  pool->set_limit_nbytes(pages(300));
  release({pages(100), pages(100), pages(100), pages(300)});
  EXPECT_EQ(pool->idle_nbytes(), pages(300));
  EXPECT_EQ(source.mapped(), 1U);
}

}  // namespace
}  // namespace byre::test
