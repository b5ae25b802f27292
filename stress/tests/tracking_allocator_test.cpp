// SPDX-License-Identifier: BSL-1.0
#include "../mixed/tracking_allocator.hpp"
#include "support/complaint.hpp"

#include <gtest/gtest.h>
#include <byre/memory/host_allocators.hpp>

namespace byre::stress {
namespace {

struct TrackingAllocatorTest : testing::Test {
  Failures failures;
  TrackingAllocator tracking{aligned_allocator(), failures};

  std::string reported() const {
    const auto texts = failures.texts();
    return texts.empty() ? "" : texts.front();
  }
};

TEST_F(TrackingAllocatorTest, blocks_that_are_released_once_are_no_failure) {
  const Block first = tracking.allocate({100});
  const Block second = tracking.allocate_copy({100}, first.data, 100);
  EXPECT_EQ(tracking.live_blocks(), 2u);
  tracking.deallocate(first);
  tracking.deallocate(second);
  tracking.check_for_leaks();
  EXPECT_EQ(reported(), "");
  EXPECT_EQ(tracking.allocation_count(), 2u);
}

TEST_F(TrackingAllocatorTest, a_block_that_is_released_twice_is_a_failure) {
  const Block block = tracking.allocate({100});
  tracking.deallocate(block);
  tracking.deallocate(block);
  EXPECT_TRUE(test::says(reported(), "though it is not live"));
}

TEST_F(TrackingAllocatorTest, a_foreign_block_is_a_failure) {
  const Block foreign = aligned_allocator().allocate({100});
  tracking.deallocate(foreign);
  EXPECT_TRUE(test::says(reported(), "though it is not live"));
  aligned_allocator().deallocate(foreign);
}

TEST_F(TrackingAllocatorTest, a_block_that_is_released_as_another_is_a_failure) {
  const Block block = tracking.allocate({100});
  tracking.deallocate({block.data, block.capacity + 1, block.base});
  EXPECT_TRUE(test::says(reported(), "came back as one of 101"));
}

/// Allocates the same block again and again.
class RepeatingAllocator final : public Allocator {
 public:
  ~RepeatingAllocator() override { aligned_allocator().deallocate(block_); }
  Block allocate(const Request&) override { return block_; }
  void deallocate(const Block&) noexcept override {}
  const char* name() const noexcept override { return "repeating"; }

 private:
  const Block block_ = aligned_allocator().allocate({100});
};

TEST(TrackingAllocator, a_block_that_is_allocated_twice_is_a_failure) {
  Failures failures;
  RepeatingAllocator repeating;
  TrackingAllocator tracking(repeating, failures);
  tracking.allocate({100});
  EXPECT_FALSE(failures.any());
  tracking.allocate({100});
  ASSERT_TRUE(failures.any());
  EXPECT_TRUE(test::says(failures.texts().front(), "was allocated while it was live"));
}

TEST_F(TrackingAllocatorTest, a_block_that_is_never_released_is_a_failure) {
  const Block block = tracking.allocate({100});
  tracking.check_for_leaks();
  EXPECT_EQ(reported(), "1 blocks were never released");
  tracking.deallocate(block);
}

}  // namespace
}  // namespace byre::stress
