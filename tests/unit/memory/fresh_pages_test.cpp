// SPDX-License-Identifier: BSL-1.0
/// The pool's advice to the system about its pages, and the order in which a copy populates fresh
/// pages.
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "nbytes.hpp"
#include "support/features.hpp"
#include "support/scattered_bytes.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

class FreshPages : public testing::Test {
 protected:
  /// Copies `nbytes` of text into a block of `capacity` bytes.
  Block copy(std::size_t nbytes, std::size_t capacity) {
    return pool_.allocate_copy({capacity, 64}, text_.data(), nbytes);
  }

  /// Expects that populate request `number` had this offset in the block and this size.
  void expect_range(const Block& block, std::size_t number, std::size_t offset,
                    std::size_t nbytes) const {
    ASSERT_LT(number, system_.ranges().size());
    const auto& range = system_.ranges()[number];
    EXPECT_EQ(range.data - static_cast<std::byte*>(block.data),
              static_cast<std::ptrdiff_t>(offset));
    EXPECT_EQ(range.nbytes, nbytes);
  }

  /// Expects that exactly one range was advised: the block's huge pages.
  void expect_advised(const Block& block, int advice, std::size_t nbytes) const {
    const auto ranges = system_.advised(advice);
    ASSERT_EQ(ranges.size(), 1U);
    EXPECT_EQ(ranges[0].data, block.data);
    EXPECT_EQ(ranges[0].nbytes, nbytes);
  }

  static constexpr std::size_t huge = huge_page_nbytes;
  const std::vector<std::byte> text_ = scattered_bytes(3 * huge);
  RecyclingPool pool_{plenty};
  WatchedSystem system_;
};

TEST_F(FreshPages, the_last_page_of_a_huge_page_is_populated_before_the_rest) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const Block block = copy(2 * huge + 1, 2 * huge + 1);
  EXPECT_EQ(system_.ranges().size(), 5U);
  expect_range(block, 0, huge - page_nbytes, page_nbytes);
  expect_range(block, 1, 0, huge);
  expect_range(block, 2, 2 * huge - page_nbytes, page_nbytes);
  expect_range(block, 3, huge, huge);
  expect_range(block, 4, 2 * huge, page_nbytes);
  pool_.deallocate(block);
}

TEST_F(FreshPages, data_that_ends_in_the_last_page_populates_the_huge_page) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const Block block = copy(huge - page_nbytes + 1, huge - page_nbytes + 1);
  EXPECT_EQ(system_.ranges().size(), 2U);
  expect_range(block, 0, huge - page_nbytes, page_nbytes);
  expect_range(block, 1, 0, huge);
  pool_.deallocate(block);
}

TEST_F(FreshPages, data_below_a_huge_page_is_populated_in_one_call) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const Block whole = copy(huge - page_nbytes, huge - page_nbytes);
  const Block begun = copy(page_nbytes + 1, 3 * huge);
  EXPECT_EQ(system_.ranges().size(), 2U);
  expect_range(whole, 0, 0, huge - page_nbytes);
  expect_range(begun, 1, 0, 2 * page_nbytes);
  pool_.deallocate(whole);
  pool_.deallocate(begun);
}

TEST_F(FreshPages, each_huge_page_is_filled_before_the_next_is_populated) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  std::size_t turns = 0;
  system_.before_populating = [&](const WatchedSystem::Range& range) {
    if (range.nbytes == page_nbytes) {
      const std::size_t copied = turns++ * huge;
      const std::byte* const begin = range.data + page_nbytes - huge - copied;
      EXPECT_EQ(std::memcmp(begin, text_.data(), copied), 0) << "before step " << turns;
    }
  };
  pool_.deallocate(copy(3 * huge, 3 * huge));
  EXPECT_EQ(turns, 3U);
}

TEST_F(FreshPages, recycled_pages_are_not_populated) {
  pool_.deallocate(copy(2 * huge, 2 * huge));
  const std::size_t before = system_.ranges().size();
  pool_.deallocate(copy(2 * huge, 2 * huge));
  EXPECT_EQ(system_.ranges().size(), before);
}

TEST_F(FreshPages, only_completely_filled_huge_pages_get_huge_page_advice) {
  if (!uses("huge_pages")) {
    GTEST_SKIP() << "the library does not use huge pages";
  }
  pool_.deallocate(copy(huge - page_nbytes, huge - page_nbytes));
  EXPECT_TRUE(system_.advised(MADV_HUGEPAGE).empty());
  const Block block = copy(3 * huge - page_nbytes, 3 * huge - page_nbytes);
  expect_advised(block, MADV_HUGEPAGE, 2 * huge);
  pool_.deallocate(block);
}

TEST_F(FreshPages, huge_pages_of_idle_blocks_are_advised_as_reclaimable) {
  pool_.deallocate(copy(huge - page_nbytes, huge - page_nbytes));
  const Block block = copy(3 * huge - page_nbytes, 3 * huge - page_nbytes);
  EXPECT_TRUE(system_.advised(MADV_FREE).empty());
  pool_.deallocate(block);
  if (grants_huge_pages()) {
    expect_advised(block, MADV_FREE, 2 * huge);
  } else {
    EXPECT_TRUE(system_.advised(MADV_FREE).empty());
  }
}

}  // namespace
}  // namespace byre::test
