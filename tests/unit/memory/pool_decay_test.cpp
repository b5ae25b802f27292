// SPDX-License-Identifier: BSL-1.0
/// How the pool returns blocks that were idle for entire periods.
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "pool_test.hpp"

namespace byre::test {
namespace {

constexpr std::uint64_t period = 10;
constexpr std::size_t block_nbytes = pages(20);

class PoolDecayTest : public PoolTest {
 protected:
  /// Takes `count` blocks, and then releases all of them in the order of their allocation.
  std::vector<Block> use(std::size_t count) {
    return release(std::vector<std::size_t>(count, block_nbytes));
  }

  /// Makes requests that no idle block can serve.
  void request_fresh_blocks(int times = 1) {
    for (; times > 0; --times) {
      take(pages(1000));
    }
  }

  std::size_t idle_blocks() const { return pool->idle_nbytes() / block_nbytes; }
};

TEST_F(PoolDecayTest, half_of_the_bytes_idle_for_a_period_are_returned) {
  const auto released = places_of(use(8));
  source.wait_for(period);
  request_fresh_blocks();
  EXPECT_EQ(idle_blocks(), 8U) << "the blocks were used in that period";
  source.wait_for(period - 1);
  request_fresh_blocks();
  EXPECT_EQ(idle_blocks(), 8U) << "the period is not over";
  source.wait_for(1);
  request_fresh_blocks();
  EXPECT_EQ(idle_blocks(), 7U) << "each request must return one block";
  request_fresh_blocks(10);
  EXPECT_EQ(source.unmapped(), std::vector(released.begin(), released.begin() + 4));
  EXPECT_EQ(pool->idle_nbytes(), 4 * block_nbytes);
}

TEST_F(PoolDecayTest, each_period_halves_the_idle_bytes_down_to_zero) {
  use(8);
  source.wait_for(period);
  request_fresh_blocks();
  std::vector<std::size_t> left;
  for (int periods = 0; periods < 5; ++periods) {
    source.wait_for(period);
    request_fresh_blocks(10);
    left.push_back(idle_blocks());
  }
  EXPECT_EQ(left, (std::vector<std::size_t>{4, 2, 1, 0, 0}));
}

TEST_F(PoolDecayTest, a_release_also_unmaps_a_block_that_was_idle_for_a_period) {
  use(8);
  source.wait_for(period);
  use(1);
  source.wait_for(period);
  use(1);
  EXPECT_EQ(idle_blocks(), 7U);
}

TEST_F(PoolDecayTest, blocks_used_in_each_period_are_retained) {
  use(8);
  for (int periods = 0; periods < 10; ++periods) {
    source.wait_for(period);
    use(8);
    request_fresh_blocks();
  }
  EXPECT_EQ(idle_blocks(), 8U);
  EXPECT_EQ(source.unmapped().size(), 0U);
}

TEST_F(PoolDecayTest, a_periods_peak_is_retained_and_half_of_the_rest_is_returned) {
  use(8);
  source.wait_for(period);
  use(4);  // the first call after the period, so it begins the next period
  use(4);
  source.wait_for(period);
  request_fresh_blocks(10);
  EXPECT_EQ(idle_blocks(), 6U);
}

TEST_F(PoolDecayTest, each_elapsed_period_counts_even_without_a_pool_call) {
  const struct {
    std::size_t blocks;
    std::uint64_t periods;
    std::size_t left;
  } rows[] = {{8, 3, 1},
              {5, 3, 1},
              {4, 3, 0},             // an eighth of 4 blocks is less than one block
              {8, 64, 0},            // as many periods as a word has bits
              {8, 100'000'000, 0}};  // about 30 years
  for (const auto& row : rows) {
    pool->trim();
    use(row.blocks);
    source.wait_for(period);
    request_fresh_blocks();
    source.wait_for(row.periods * period);
    request_fresh_blocks(10);
    EXPECT_EQ(idle_blocks(), row.left) << row.blocks << " after " << row.periods;
  }
}

TEST_F(PoolDecayTest, returned_blocks_are_subtracted_from_the_pooled_bytes) {
  const auto pooled = [] { return stats::snapshot().pooled_bytes; };
  const std::int64_t before = pooled();
  use(8);
  source.wait_for(period);
  request_fresh_blocks();
  source.wait_for(period);
  request_fresh_blocks();
  EXPECT_EQ(pooled() - before, BYRE_STATS ? std::int64_t{7 * block_nbytes} : 0);
}

TEST(SystemPages, return_seconds_of_the_steady_clock) {
  using std::chrono::steady_clock;
  const auto seconds = [] {
    const auto now = steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(now).count());
  };
  const std::uint64_t before = seconds();
  const std::uint64_t between = system_pages().seconds();
  EXPECT_LE(before, between + 1);  // the coarse clock may be a tick late
  EXPECT_LE(between, seconds());
}

}  // namespace
}  // namespace byre::test
