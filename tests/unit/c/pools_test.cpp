// SPDX-License-Identifier: BSL-1.0
// Pools of the C interface.
#include "support/caught_warnings.hpp"
#include "values.hpp"

namespace byre::test {
namespace {

TEST(CPools, pool_keeps_released_blocks_up_to_its_limit) {
  constexpr std::size_t nbytes = 1 << 20;
  CPool pool;
  ASSERT_TRUE(ok(byre_pool_create(2 * nbytes, pool.result())));
  EXPECT_EQ(byre_pool_limit_nbytes(pool), 2 * nbytes);
  CBuffer buffer;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
  byre_buffer_release(buffer);
  EXPECT_GE(byre_pool_idle_nbytes(pool), nbytes);
  CBuffer other;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes / 2, byre_pool_allocator(pool), other)));
  byre_buffer_release(buffer);
  byre_buffer_release(other);
  const std::size_t both = byre_pool_idle_nbytes(pool);
  byre_pool_trim(pool, both - 1);
  EXPECT_LT(byre_pool_idle_nbytes(pool), both);
  EXPECT_GT(byre_pool_idle_nbytes(pool), 0U) << "one block suffices";
  byre_pool_trim(pool, 0);
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
  byre_pool_set_limit_nbytes(pool, 0);
  EXPECT_EQ(byre_pool_limit_nbytes(pool), 0U);
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  byre_buffer_release(buffer);
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
}

TEST(CPools, default_pool_is_the_default_allocator) {
  EXPECT_EQ(byre_pool_allocator(byre_default_pool()), byre_default_allocator());
  EXPECT_EQ(byre_pool_limit_nbytes(byre_default_pool()), byre_pool_default_limit_nbytes());
  EXPECT_GT(byre_usable_memory_nbytes(), 0U);
  EXPECT_LE(byre_pool_default_limit_nbytes(), byre_usable_memory_nbytes() / 8);
}

TEST(CPools, null_is_no_pool) {
  EXPECT_EQ(byre_pool_allocator(nullptr), nullptr);
  EXPECT_EQ(byre_pool_limit_nbytes(nullptr), 0U);
  EXPECT_EQ(byre_pool_idle_nbytes(nullptr), 0U);
  byre_pool_set_limit_nbytes(nullptr, 1);
  byre_pool_trim(nullptr, 0);
  byre_pool_destroy(nullptr);
  EXPECT_TRUE(fails(byre_pool_create(1, nullptr), BYRE_INVALID_ARGUMENT, "`result` is NULL"));
}

}  // namespace
}  // namespace byre::test
