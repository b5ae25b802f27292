// SPDX-License-Identifier: BSL-1.0
/// When the pool gives memory back: its limit, trimming, refusals and its end.
#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nbytes.hpp"
#include "support/complaint.hpp"
#include "support/emulated.hpp"
#include "support/fake_pages.hpp"

namespace byre::test {
namespace {

class PoolLimitsTest : public testing::Test {
 protected:
  Block take(std::size_t nbytes) { return pool->allocate({nbytes, 64}); }

  /// Three blocks of different sizes, released in this order.
  std::vector<const void*> release_three() {
    const std::vector<Block> blocks{take(pages(50)), take(pages(20)), take(pages(100))};
    std::vector<const void*> addresses;
    for (const Block& block : blocks) {
      pool->deallocate(block);
      addresses.push_back(block.data);
    }
    return addresses;
  }

  FakePages source;
  std::optional<RecyclingPool> pool{std::in_place, plenty, source};
};

TEST_F(PoolLimitsTest, the_least_recently_released_block_goes_first) {
  pool->set_limit_nbytes(pages(150));
  EXPECT_EQ(pool->limit_nbytes(), pages(150));
  const auto released = release_three();
  EXPECT_EQ(source.unmapped(), std::vector{released[0]});
  EXPECT_EQ(pool->idle_nbytes(), pages(120));
}

TEST_F(PoolLimitsTest, the_limit_itself_may_be_idle) {
  pool->set_limit_nbytes(pages(50));
  pool->deallocate(take(pages(50)));
  EXPECT_EQ(pool->idle_nbytes(), pages(50));
  pool->trim();
  pool->set_limit_nbytes(pages(170));
  release_three();
  EXPECT_EQ(pool->idle_nbytes(), pages(170));
  EXPECT_EQ(source.mapped(), 3U);
}

TEST_F(PoolLimitsTest, a_block_that_is_taken_and_released_again_is_the_youngest) {
  const auto released = release_three();
  const Block again = take(pages(50));
  ASSERT_EQ(again.data, released[0]);
  pool->deallocate(again);
  pool->trim(pages(50));
  EXPECT_EQ(source.unmapped(), (std::vector{released[1], released[2]}));
}

TEST_F(PoolLimitsTest, a_limit_of_0_recycles_nothing) {
  pool->set_limit_nbytes(0);
  release_three();
  EXPECT_EQ(pool->idle_nbytes(), 0U);
  EXPECT_EQ(source.mapped(), 0U);
  EXPECT_EQ(source.unmapped().size(), 3U);
}

TEST_F(PoolLimitsTest, a_block_larger_than_the_limit_pushes_no_other_out) {
  pool->set_limit_nbytes(pages(180));
  const Block large = take(pages(200));
  release_three();
  pool->deallocate(large);
  EXPECT_EQ(source.unmapped(), std::vector<const void*>{large.data});
  EXPECT_EQ(pool->idle_nbytes(), pages(170));
}

TEST_F(PoolLimitsTest, a_lower_limit_gives_back_what_exceeds_it_at_once) {
  const auto released = release_three();
  pool->set_limit_nbytes(pages(119));
  EXPECT_EQ(source.unmapped(), (std::vector{released[0], released[1]}));
  EXPECT_EQ(pool->idle_nbytes(), pages(100));
}

TEST_F(PoolLimitsTest, trim_keeps_as_much_as_it_is_told) {
  const auto released = release_three();
  pool->trim(plenty);
  EXPECT_EQ(pool->idle_nbytes(), pages(170));
  pool->trim(pages(169));
  EXPECT_EQ(source.unmapped(), std::vector{released[0]});
  pool->trim();
  EXPECT_EQ(source.unmapped(), released);
  EXPECT_EQ(pool->idle_nbytes(), 0U);
  EXPECT_EQ(pool->limit_nbytes(), plenty) << "trimming is no change of the limit";
}

TEST(IdleBlocks, beyond_the_limit_alone_are_taken_out_too) {
  IdleBlocks blocks(pages(100));
  IdleBlock idle({nullptr, pages(50), nullptr});
  ASSERT_EQ(blocks.take(pages(50)), nullptr);
  ASSERT_EQ(blocks.put(idle, 0), nullptr);
  EXPECT_EQ(blocks.take_oldest_beyond(pages(50)), nullptr);
  blocks.set_limit(pages(50) - 1);
  EXPECT_EQ(blocks.take_oldest_beyond(pages(50)), &idle);
}

TEST_F(PoolLimitsTest, everything_is_unmapped_when_the_pool_is_destroyed) {
  release_three();
  pool->deallocate(take(5 * mib));
  EXPECT_EQ(source.mapped(), 4U);
  pool.reset();
  EXPECT_EQ(source.mapped(), 0U);
  EXPECT_EQ(source.wrong_unmaps(), 0);
}

TEST_F(PoolLimitsTest, a_refused_mapping_is_tried_again_after_giving_back_what_is_idle) {
  const auto released = release_three();
  source.refuse(1);
  const Block block = take(pages(1000));  // more than is idle
  EXPECT_NE(block.data, nullptr);
  EXPECT_EQ(source.refused(), 1);
  EXPECT_EQ(source.unmapped(), released);
  EXPECT_EQ(pool->idle_nbytes(), 0U);
  pool->deallocate(block);
}

TEST_F(PoolLimitsTest, a_mapping_refused_twice_is_out_of_memory_and_the_pool_goes_on) {
  release_three();
  source.refuse(2);
  EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { (void)take(70'000'000); }), "70000000 bytes",
                   "recycling pool"));
  const Block block = take(70'000'000);
  EXPECT_NE(block.data, nullptr);
  pool->deallocate(block);
  pool.reset();  // dies if the failed request counts as a block that is out
  EXPECT_EQ(source.mapped(), 0U);
}

TEST_F(PoolLimitsTest, a_refused_buffer_copy_leaves_both_buffers_as_they_were) {
  Buffer buffer = Buffer::allocate(3 * mib, *pool);
  buffer.mutable_data()[17] = std::byte{17};
  Buffer clone = buffer;
  source.refuse(2);
  EXPECT_THROW((void)clone.mutable_data(), OutOfMemory);
  EXPECT_TRUE(clone.shares_data_with(buffer));
  clone.mutable_data()[17] = std::byte{18};
  EXPECT_EQ(buffer.data()[17], std::byte{17});
}

TEST_F(PoolLimitsTest, counters_agree_with_what_is_idle_and_what_is_alive) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  const stats::Counters before = stats::snapshot();
  const auto changed = [&] { return stats::snapshot() - before; };
  {
    const Buffer buffer = Buffer::allocate(pages(30) - 5, *pool);
    const Buffer clone = buffer;
    EXPECT_EQ(changed().live_bytes, static_cast<std::int64_t>(pages(30)));
    EXPECT_EQ(changed().pooled_bytes, 0);
  }
  EXPECT_EQ(changed().live_bytes, 0);
  EXPECT_EQ(changed().pooled_bytes, static_cast<std::int64_t>(pages(30)));
  release_three();
  EXPECT_EQ(changed().pooled_bytes, static_cast<std::int64_t>(pool->idle_nbytes()));
  const Block recycled = take(pages(50) - 5);
  EXPECT_EQ(changed().pooled_bytes, static_cast<std::int64_t>(pool->idle_nbytes()));
  pool->deallocate(recycled);
  pool->trim(pages(60));
  EXPECT_EQ(changed().pooled_bytes, static_cast<std::int64_t>(pool->idle_nbytes()));
  pool.reset();
  EXPECT_EQ(changed().pooled_bytes, 0);
}

TEST(PoolDeathTest, a_pool_destroyed_before_its_buffers_ends_the_program) {
  testing::FLAGS_gtest_death_test_style = death_test_style();
  EXPECT_DEATH(
      {
        auto pool = std::make_unique<RecyclingPool>(plenty);
        const Buffer buffer = Buffer::allocate(mib, *pool);
        pool.reset();
      },
      "pool\\.cpp:[0-9]+: a recycling pool was destroyed while buffers from it are alive");
}

}  // namespace
}  // namespace byre::test
