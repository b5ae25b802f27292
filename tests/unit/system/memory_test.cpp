// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/memory.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "support/features.hpp"

namespace byre::test {
namespace {

using system::Access;

constexpr std::size_t nbytes = 4 * page_nbytes;

class SystemMemory : public testing::Test {
 protected:
  ~SystemMemory() override { system::unmap(mapping_.begin, mapping_.nbytes); }

  bool holds(int value) const {
    return std::all_of(data(), data() + nbytes,
                       [&](std::byte byte) { return std::to_integer<int>(byte) == value; });
  }
  std::byte* data() const { return mapping_.data; }

  const system::AlignedMapping mapping_ = system::map_aligned(0, nbytes, 1, Access::read_write);
};

TEST_F(SystemMemory, page_sizes_divide_the_page_size_of_the_architecture) {
  const std::size_t actual = system::actual_page_nbytes();
  EXPECT_GT(actual, 0U);
  EXPECT_EQ(page_nbytes % actual, 0U);
  EXPECT_EQ(actual & (actual - 1), 0U);
}

TEST_F(SystemMemory, fresh_pages_are_zero_and_writable) {
  ASSERT_NE(data(), nullptr);
  EXPECT_TRUE(holds(0));
  std::memset(data(), 5, nbytes);
  EXPECT_TRUE(holds(5));
}

TEST(SystemMapping, is_aligned_behind_its_lead_and_contains_the_request) {
  for (const std::size_t alignment : {page_nbytes, std::size_t{1} << 20U}) {
    for (const std::size_t lead : {std::size_t{0}, page_nbytes}) {
      const auto mapping = system::map_aligned(lead, nbytes, alignment, Access::read_write);
      ASSERT_NE(mapping.begin, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping.data) % alignment, 0U);
      EXPECT_LE(mapping.begin, mapping.data - lead);
      EXPECT_GE(mapping.begin + mapping.nbytes, mapping.data + nbytes);
      EXPECT_LE(mapping.nbytes, lead + nbytes + alignment);
      std::memset(mapping.data - lead, 1, lead + nbytes);
      EXPECT_TRUE(system::unmap(mapping.begin, mapping.nbytes));
    }
  }
}

TEST(SystemMapping, is_null_if_the_address_space_is_too_small) {
  const std::size_t most = ~std::size_t{0} / page_nbytes * page_nbytes;
  for (const std::size_t huge :
       {most / 8 * 7 / page_nbytes * page_nbytes, most - page_nbytes, most}) {
    for (const std::size_t alignment : {page_nbytes, 16 * page_nbytes}) {
      EXPECT_EQ(system::map_aligned(page_nbytes, huge, alignment, Access::none).begin, nullptr);
    }
  }
}

TEST(SystemMapping, is_zero_where_a_former_mapping_was_written) {
  for (int round = 0; round < 4; ++round) {
    const auto mapping =
        system::map_aligned(page_nbytes, nbytes, 2 * page_nbytes, Access::read_write);
    ASSERT_NE(mapping.begin, nullptr);
    EXPECT_TRUE(std::all_of(mapping.begin, mapping.begin + mapping.nbytes,
                            [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(mapping.begin, 1, mapping.nbytes);
    ASSERT_TRUE(system::unmap(mapping.begin, mapping.nbytes));
  }
}

TEST(SystemMapping, succeeds_as_often_as_mappings_end) {
  constexpr std::size_t large = std::size_t{256} << 20U;
  for (int round = 0; round < 20; ++round) {  // 5 GiB, more than a 32-bit address space
    const auto mapping = system::map_aligned(page_nbytes, large, page_nbytes, Access::read_write);
    ASSERT_NE(mapping.begin, nullptr) << "in round " << round;
    ASSERT_TRUE(system::unmap(mapping.begin, mapping.nbytes));
  }
}

TEST_F(SystemMemory, bytes_survive_a_protection_and_can_be_written_after_it) {
  std::memset(data(), 5, nbytes);
  ASSERT_EQ(system::protect(data(), nbytes, Access::read), has_protected_pages);
  EXPECT_TRUE(holds(5));
  ASSERT_EQ(system::protect(data(), nbytes, Access::read_write), has_protected_pages);
  std::memset(data(), 6, nbytes);
  EXPECT_TRUE(holds(6));
}

TEST_F(SystemMemory, a_write_to_protected_pages_ends_the_program) {
  if (!has_protected_pages) {
    GTEST_SKIP() << "this system protects no pages";
  }
  for (const Access access : {Access::read, Access::none}) {
    ASSERT_TRUE(system::protect(data(), nbytes, access));
    EXPECT_DEATH(*data() = std::byte{1}, "");
  }
  EXPECT_DEATH(static_cast<void>(*static_cast<volatile std::byte*>(data())), "");
}

TEST_F(SystemMemory, discarded_pages_read_as_zeros_and_stay_writable) {
  std::memset(data(), 5, nbytes);
  ASSERT_EQ(system::discard(data(), nbytes), has_protected_pages);
  EXPECT_TRUE(holds(has_protected_pages ? 0 : 5));
  std::memset(data(), 6, nbytes);
  EXPECT_TRUE(holds(6));
}

TEST_F(SystemMemory, populating_a_part_of_a_page_preserves_the_bytes) {
  std::memset(data(), 5, nbytes);
  EXPECT_TRUE(system::populate(data() + 7, page_nbytes));
  EXPECT_TRUE(system::populate(data(), 0));
  EXPECT_TRUE(holds(5));
}

TEST_F(SystemMemory, populating_unmapped_pages_fails) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const auto other = system::map_aligned(0, nbytes, 1, Access::read_write);
  ASSERT_TRUE(system::unmap(other.begin, other.nbytes));
  EXPECT_FALSE(system::populate(other.data, nbytes));
}

TEST_F(SystemMemory, advice_about_zero_bytes_does_nothing) {
  std::memset(data(), 5, nbytes);
  system::advise_huge(data(), 0);
  system::advise_reclaimable(data(), 0);
  EXPECT_TRUE(holds(5));
}

TEST_F(SystemMemory, usable_memory_is_positive) {
  EXPECT_GE(system::usable_memory_nbytes(), std::uint64_t{16} << 20U);
}

}  // namespace
}  // namespace byre::test
