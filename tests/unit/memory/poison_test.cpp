// SPDX-License-Identifier: BSL-1.0
/// Poisoning of a pool's blocks: AddressSanitizer reports uses of idle blocks, and no uses of other
/// blocks.
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "nbytes.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

#if defined(BYRE_ADDRESS_SANITIZER)
/// The first poisoned byte of the block's data, or null.
const void* first_poisoned(const Block& block) {
  return __asan_region_is_poisoned(block.data, block.capacity);
}
bool is_poisoned(const std::byte* address) {
  return __asan_address_is_poisoned(address) != 0;
}
#else
const void* first_poisoned(const Block&) {
  return nullptr;
}
bool is_poisoned(const std::byte*) {
  return false;
}
#endif

class PoisonedBlocks : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!is_address_sanitized) {
      GTEST_SKIP() << "built without AddressSanitizer";
    }
  }

  Block take() { return pool.allocate({GetParam(), 64}); }
  /// A block that was released and is idle.
  Block release() {
    const Block block = take();
    pool.deallocate(block);
    return block;
  }

  RecyclingPool pool{plenty};
};

TEST_P(PoisonedBlocks, idle_blocks_are_poisoned_entirely) {
  const Block idle = release();
  const auto* data = static_cast<const std::byte*>(idle.data);
  for (std::size_t at = 0; at < idle.capacity; at += 509) {
    ASSERT_TRUE(is_poisoned(data + at)) << at;
  }
  EXPECT_TRUE(is_poisoned(data + idle.capacity - 1));
  EXPECT_TRUE(is_poisoned(data - 1)) << "expected a poisoned header";
}

TEST_P(PoisonedBlocks, blocks_in_use_are_not_poisoned) {
  const Block fresh = take();
  EXPECT_EQ(first_poisoned(fresh), nullptr);
  pool.deallocate(fresh);
  const Block recycled = take();
  ASSERT_EQ(recycled.data, fresh.data);
  EXPECT_EQ(first_poisoned(recycled), nullptr);
  std::memset(static_cast<std::byte*>(recycled.data) - 64, 'b', 64 + recycled.capacity);
  pool.deallocate(recycled);
}

// The system may map these addresses for other code.
TEST_P(PoisonedBlocks, unmapped_blocks_are_not_poisoned) {
  const Block gone = release();
  pool.trim();
  EXPECT_EQ(first_poisoned(gone), nullptr);
}

INSTANTIATE_TEST_SUITE_P(OfEverySize, PoisonedBlocks,
                         testing::Values(RecyclingPool::recycled_from, 3 * mib + 1));

}  // namespace
}  // namespace byre::test
