// SPDX-License-Identifier: BSL-1.0
/// Which addresses a forked process remembers as lost.
#include <byre/memory/detail/lost_pages.hpp>
#include <byre/memory/pages.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstddef>

#include "children.hpp"

namespace byre::test {
namespace {

using byre::detail::is_lost;

std::byte* map_pages(std::size_t count) {
  void* const pages = ::mmap(nullptr, count * page_nbytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(pages, MAP_FAILED);
  return static_cast<std::byte*>(pages);
}

TEST(LostPages, are_lost_from_the_first_byte_to_the_last) {
  in_a_child([] {
    std::byte* const begin = map_pages(4) + page_nbytes;
    std::byte* const end = begin + 2 * page_nbytes;
    detail::lose_pages(begin, 2 * page_nbytes);
    EXPECT_TRUE(is_lost(begin));
    EXPECT_TRUE(is_lost(end - 1));
    EXPECT_FALSE(is_lost(begin - 1));
    EXPECT_FALSE(is_lost(end));
  });
}

TEST(LostPages, of_more_ranges_than_are_remembered_are_lost_too) {
  in_a_child([] {
    constexpr std::size_t ranges = 5000;  // there is room for 4096
    std::byte* const begin = map_pages(2 * ranges);
    for (std::size_t range = 0; range < ranges; ++range) {
      detail::lose_pages(begin + 2 * range * page_nbytes, page_nbytes);
    }
    for (std::size_t range = 0; range < ranges; ++range) {
      ASSERT_TRUE(is_lost(begin + 2 * range * page_nbytes)) << range;
    }
    EXPECT_FALSE(is_lost(begin + page_nbytes));
    EXPECT_FALSE(is_lost(begin - 1));
  });
}

}  // namespace
}  // namespace byre::test
