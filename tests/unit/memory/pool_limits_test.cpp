// SPDX-License-Identifier: BSL-1.0
/// When the pool returns memory: at its limit, at a trim, if the system or malloc refuses memory,
/// and at its destruction.
#include <byre/error/error.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "pages/children.hpp"
#include "pool_test.hpp"
#include "support/complaint.hpp"
#include "support/emulated.hpp"

namespace byre::test {
namespace {

class PoolLimitsTest : public PoolTest {
 protected:
  /// Releases three blocks of different sizes, in this order.
  std::vector<const void*> release_three() {
    return places_of(release({pages(50), pages(20), pages(100)}));
  }
};

TEST_F(PoolLimitsTest, idle_blocks_above_the_limit_are_returned_oldest_first) {
  const struct {
    std::size_t most, idle, unmapped;
  } rows[] = {{plenty, pages(170), 0},     {pages(170), pages(170), 0}, {pages(169), pages(120), 1},
              {pages(150), pages(120), 1}, {pages(119), pages(100), 2}, {0, 0, 3}};
  enum { before, after, by_trim };
  for (const auto& row : rows) {
    for (const auto limited : {before, after, by_trim}) {
      pool->trim();
      pool->set_limit_nbytes(limited == before ? row.most : plenty);
      const std::size_t unmapped_before = source.unmapped().size();
      const auto released = release_three();
      if (limited == after) {
        pool->set_limit_nbytes(row.most);
      } else if (limited == by_trim) {
        pool->trim(row.most);
      }
      EXPECT_EQ(pool->limit_nbytes(), limited == by_trim ? plenty : row.most);
      EXPECT_EQ(pool->idle_nbytes(), row.idle);
      EXPECT_EQ(source.mapped(), 3 - row.unmapped);
      const auto unmapped = source.unmapped();
      const auto gone = released.begin() + static_cast<std::ptrdiff_t>(row.unmapped);
      EXPECT_EQ(std::vector(unmapped.begin() + static_cast<std::ptrdiff_t>(unmapped_before),
                            unmapped.end()),
                std::vector(released.begin(), gone))
          << row.most;
    }
  }
}

TEST_F(PoolLimitsTest, reusing_a_block_makes_it_the_last_to_be_returned) {
  const auto released = release_three();
  const Block again = take(pages(50));
  ASSERT_EQ(again.data, released[0]);
  give_back(again);
  pool->trim(pages(50));
  EXPECT_EQ(source.unmapped(), (std::vector{released[1], released[2]}));
}

TEST_F(PoolLimitsTest, a_block_larger_than_the_limit_evicts_no_idle_block) {
  pool->set_limit_nbytes(pages(180));
  const Block large = take(pages(200));
  release_three();
  give_back(large);
  EXPECT_EQ(source.unmapped(), std::vector<const void*>{large.data});
  EXPECT_EQ(pool->idle_nbytes(), pages(170));
  pool->trim();
  pool->set_limit_nbytes(pages(50));
  give_back(take(pages(50)));
  EXPECT_EQ(pool->idle_nbytes(), pages(50)) << "a block as large as the limit must stay";
}

TEST(IdleBlocks, are_removed_if_they_exceed_a_lowered_limit) {
  IdleBlocks blocks(pages(100));
  IdleBlock idle({nullptr, pages(50), nullptr});
  ASSERT_EQ(blocks.take(pages(50)), nullptr);
  ASSERT_EQ(blocks.put(idle, 0), nullptr);
  EXPECT_EQ(blocks.take_oldest_beyond(pages(50)), nullptr);
  blocks.set_limit(pages(50) - 1);
  EXPECT_EQ(blocks.take_oldest_beyond(pages(50)), &idle);
}

// stress/programs compares the counters of idle and live bytes with a model.
TEST_F(PoolLimitsTest, everything_is_unmapped_when_the_pool_is_destroyed) {
  const std::int64_t pooled = stats::snapshot().pooled_bytes;
  release_three();
  give_back(take(5 * mib));
  EXPECT_EQ(source.mapped(), 4U);
  pool.reset();
  EXPECT_EQ(source.mapped(), 0U);
  EXPECT_EQ(source.wrong_unmaps(), 0);
  EXPECT_EQ(stats::snapshot().pooled_bytes, pooled);
}

TEST_F(PoolLimitsTest, a_refused_mapping_is_retried_after_unmapping_idle_blocks) {
  const auto released = release_three();
  source.refuse(1);
  const Block block = take(pages(1000));  // larger than all idle blocks
  EXPECT_NE(block.data, nullptr);
  EXPECT_EQ(source.refused(), 1);
  EXPECT_EQ(source.unmapped(), released);
  EXPECT_EQ(pool->idle_nbytes(), 0U);
}

TEST_F(PoolLimitsTest, a_mapping_refused_twice_throws_out_of_memory) {
  release_three();
  source.refuse(2);
  EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { (void)take(70'000'000); }), "70000000 bytes",
                   "recycling pool"));
  const Block block = take(70'000'000);
  EXPECT_NE(block.data, nullptr);
  give_back(block);
  pool.reset();  // ends the program if the failed request still counts as a block in use
  EXPECT_EQ(source.mapped(), 0U);
}

TEST(PoolDeathTest, a_pool_destroyed_before_its_buffers_ends_the_program) {
  testing::FLAGS_gtest_death_test_style = death_test_style();
  EXPECT_DEATH(
      {
        auto pool = std::make_unique<RecyclingPool>(plenty);
        const Buffer buffer = Buffer::allocate(mib, *pool);
        pool.reset();
      },
      "pool\\.cpp:[0-9]+: cannot destroy a recycling pool: buffers from it still exist");
}

#if !defined(_WIN32)  // the tests limit the memory of a process

/// Allocates small buffers until memory is exhausted or the buffers have 100 MiB. Returns their
/// total size in MiB.
std::size_t take_small_buffers() {
  constexpr std::size_t nbytes = 32 << 10;
  std::vector<Buffer> buffers;
  buffers.reserve(100 * mib / nbytes);
  try {
    while (buffers.size() < 100 * mib / nbytes) {
      buffers.push_back(Buffer::allocate(nbytes));
    }
  } catch (const OutOfMemory&) {
  }
  return buffers.size() * nbytes / mib;
}

[[noreturn]] void print_megabytes_taken(std::size_t idle_nbytes) {
  { const Buffer idle = Buffer::allocate(idle_nbytes); }
  set_limit(RLIMIT_AS, address_space_nbytes() + 16 * mib);
  const std::size_t taken = take_small_buffers();
  std::fprintf(stderr, "%s, %zu idle", taken == 100 ? "all" : "not all",
               default_pool().idle_nbytes());
  std::exit(0);
}

class MallocRefusalDeathTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
    GTEST_SKIP() << "a sanitizer's allocator needs the address space";
#endif
    if (is_emulated()) {
      GTEST_SKIP() << "limits do not apply to programs in an emulator";
    }
    testing::FLAGS_gtest_death_test_style = death_test_style();
  }
};

// Runs in a child process with limited memory.
TEST_F(MallocRefusalDeathTest, frees_idle_blocks_and_retries) {
  EXPECT_EXIT(print_megabytes_taken(200 * mib), testing::ExitedWithCode(0), "all, 0 idle");
}

TEST_F(MallocRefusalDeathTest, throws_if_no_block_was_idle) {
  EXPECT_EXIT(print_megabytes_taken(1), testing::ExitedWithCode(0), "not all, 0 idle");
}

#endif

}  // namespace
}  // namespace byre::test
