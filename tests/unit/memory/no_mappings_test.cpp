// SPDX-License-Identifier: BSL-1.0
/// Large blocks where the system maps no pages: they are the heap's, which grows without a mapping.
#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "nbytes.hpp"
#include "support/scattered_bytes.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

class NoMappingsTest : public testing::Test {
 protected:
  NoMappingsTest() { system.refuse_maps(~std::size_t{0}); }

  WatchedSystem system;
  RecyclingPool pool{plenty};
};

TEST_F(NoMappingsTest, large_blocks_are_of_the_heap_and_not_recycled) {
  for (const std::size_t nbytes : {64 * kib, 2 * mib, 5 * mib + 1}) {
    const Block block = pool.allocate({nbytes, 1024});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % page_nbytes, 0U);
    EXPECT_GE(block.capacity, nbytes);
    std::memset(static_cast<std::byte*>(block.data) - 1024, 1, 1024 + block.capacity);
    pool.deallocate(block);
    EXPECT_EQ(pool.idle_nbytes(), 0U);
  }
}

TEST_F(NoMappingsTest, a_copy_has_every_byte) {
  const std::vector<std::byte> text = scattered_bytes(5 * mib + 1);
  const Block block = pool.allocate_copy({text.size(), 64}, text.data(), text.size());
  EXPECT_EQ(std::memcmp(block.data, text.data(), text.size()), 0);
  pool.deallocate(block);
}

TEST_F(NoMappingsTest, a_request_that_the_heap_refuses_too_throws) {
  EXPECT_THROW((void)pool.allocate({max_nbytes / 2, 64}), OutOfMemory);
}

}  // namespace
}  // namespace byre::test
