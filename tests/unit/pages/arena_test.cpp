// SPDX-License-Identifier: BSL-1.0
/// Ranges of a memory file: how pages are taken, returned and reused.
#include <byre/error/error.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "paged_buffers.hpp"

namespace byre::test {
namespace {

using byre::detail::PageArena;
using byre::detail::PageRange;

constexpr auto all_nbytes = static_cast<std::size_t>(PageArena::most_nbytes);

class Arena : public testing::Test {
 protected:
  void SetUp() override {
    if (arena_ == nullptr) {
      GTEST_SKIP() << "the system lacks memory files";
    }
  }

  const std::unique_ptr<PageArena> arena_ = PageArena::create();
};

TEST_F(Arena, returned_ranges_can_be_taken_again) {
  PageRange range;
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(arena_->take(range, all_nbytes / 8, page_nbytes)) << round;
    EXPECT_EQ(range.nbytes, all_nbytes / 8);
    EXPECT_FALSE(arena_->put_back(range));
  }
}

TEST_F(Arena, a_request_larger_than_the_arena_takes_no_range) {
  PageRange range;
  for (const std::size_t nbytes :
       {all_nbytes, std::size_t{1} << 63U, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_FALSE(arena_->take(range, nbytes, page_nbytes)) << nbytes;
    EXPECT_TRUE(arena_->is_empty());
  }
  EXPECT_TRUE(arena_->take(range, all_nbytes - page_nbytes, page_nbytes));
  arena_->put_back(range);
}

TEST_F(Arena, a_full_arena_reuses_the_offset_of_a_returned_range) {
  std::array<PageRange, 7> ranges;
  for (PageRange& range : ranges) {
    ASSERT_TRUE(arena_->take(range, all_nbytes / 8, huge_page_nbytes));
  }
  PageRange extra;
  EXPECT_FALSE(arena_->take(extra, all_nbytes / 8, huge_page_nbytes));
  const auto offset = ranges[3].offset;
  arena_->put_back(ranges[3]);
  ASSERT_TRUE(arena_->take(extra, all_nbytes / 8, huge_page_nbytes));
  EXPECT_EQ(extra.offset, offset);
  arena_->put_back(extra);
  for (PageRange& range : ranges) {
    if (range.arena != nullptr) {
      arena_->put_back(range);
    }
  }
}

TEST_F(Arena, ranges_are_aligned_and_separated_by_gaps) {
  std::array<PageRange, 4> ranges;
  for (PageRange& range : ranges) {
    ASSERT_TRUE(arena_->take(range, huge_page_nbytes, huge_page_nbytes));
    EXPECT_EQ(range.offset % static_cast<std::int64_t>(huge_page_nbytes), 0);
  }
  for (std::size_t index = 1; index < ranges.size(); ++index) {
    EXPECT_GT(ranges[index].offset,
              ranges[index - 1].offset + static_cast<std::int64_t>(huge_page_nbytes));
  }
  for (PageRange& range : ranges) {
    arena_->put_back(range);
  }
}

TEST_F(Arena, a_range_that_would_leave_no_gap_to_the_next_is_refused) {
  std::array<PageRange, 3> ranges;
  ASSERT_TRUE(arena_->take(ranges[0], page_nbytes, page_nbytes));
  ASSERT_TRUE(arena_->take(ranges[1], page_nbytes, page_nbytes));
  ASSERT_TRUE(arena_->take(ranges[2], all_nbytes - 5 * page_nbytes, page_nbytes));
  arena_->put_back(ranges[1]);
  EXPECT_FALSE(arena_->take(ranges[1], 2 * page_nbytes, page_nbytes));
  ASSERT_TRUE(arena_->take(ranges[1], page_nbytes, page_nbytes));
  for (PageRange& range : ranges) {
    arena_->put_back(range);
  }
}

TEST_F(Arena, returning_the_last_range_ends_a_retired_arena) {
  std::array<PageRange, 2> ranges;
  for (PageRange& range : ranges) {
    ASSERT_TRUE(arena_->take(range, page_nbytes, page_nbytes));
  }
  arena_->retire();
  EXPECT_FALSE(arena_->put_back(ranges[0]));
  EXPECT_TRUE(arena_->put_back(ranges[1]));
}

TEST_F(Arena, allocations_after_a_refused_allocation_are_still_paged) {
  for (const std::size_t nbytes : {max_nbytes, max_nbytes / 2, max_nbytes + 1}) {
    try {
      (void)Buffer::allocate(nbytes, paged_allocator());
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(filled(std::byte{1}).origin(), Origin::paged);
}

}  // namespace
}  // namespace byre::test
