// SPDX-License-Identifier: BSL-1.0
/// Mappings that the system refuses to create or to unmap.
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/system/detail/files.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "nbytes.hpp"
#include "pages/children.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

constexpr std::size_t range_nbytes = pages(4);

std::byte* map_range() {
  return detail::map_pages(0, range_nbytes, 1, system::Access::read_write);
}

bool is_mapped(const std::byte* begin) {
  std::array<unsigned char, range_nbytes / 4096> resident{};
  return ::mincore(const_cast<std::byte*>(begin), range_nbytes, resident.data()) == 0;
}

class MappingsTest : public testing::Test {
 protected:
  /// A range that the system has refused to unmap.
  std::byte* refused() {
    std::byte* const range = map_range();
    std::memset(range, 1, range_nbytes);
    system.unmaps = false;
    detail::unmap(range, range_nbytes);
    system.unmaps = true;
    return range;
  }

  WatchedSystem system;
};

TEST_F(MappingsTest, a_range_that_cannot_be_unmapped_frees_its_memory) {
  const std::byte* const range = refused();
  EXPECT_EQ(*range, std::byte{0}) << "expected zeros in place of the freed memory";
  detail::unmap(map_range(), range_nbytes);
}

TEST_F(MappingsTest, a_refused_unmap_is_repeated_at_the_next_unmap) {
  const std::byte* const first = refused();
  const std::byte* const second = refused();
  std::byte* const next = map_range();
  EXPECT_TRUE(is_mapped(first) && is_mapped(second));
  detail::unmap(next, range_nbytes);
  EXPECT_FALSE(is_mapped(first) || is_mapped(second) || is_mapped(next));
}

TEST_F(MappingsTest, a_failed_map_is_retried_after_repeating_refused_unmaps) {
  const std::byte* const range = refused();
  system.refuse_maps(1);
  std::byte* const next = map_range();
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next == range || !is_mapped(range));
  detail::unmap(next, range_nbytes);
}

TEST_F(MappingsTest, a_map_that_fails_twice_returns_null) {
  (void)refused();
  system.refuse_maps(2);
  EXPECT_EQ(map_range(), nullptr);
}

TEST_F(MappingsTest, a_range_that_can_never_be_unmapped_does_not_block_others) {
  in_a_child([this] {
    detail::unmap(map_range() + 1, range_nbytes);  // not page-aligned, so the system always refuses
    const std::byte* const range = refused();
    system.refuse_maps(1);
    const std::byte* const next = map_range();
    EXPECT_TRUE(next == range || !is_mapped(range));
  });
}

TEST_F(MappingsTest, unmapping_zero_bytes_does_not_count_as_refused) {
  std::byte* const next = map_range();
  detail::unmap(next, 0);
  const std::byte* const range = refused();
  detail::unmap(next, range_nbytes);
  EXPECT_FALSE(is_mapped(range));
}

TEST_F(MappingsTest, unmapping_preserves_errno) {
  std::byte* const range = map_range();
  system.unmaps = false;
  errno = EDOM;
  detail::unmap(range, range_nbytes);
  EXPECT_EQ(errno, EDOM);
  system.unmaps = true;
  detail::unmap(map_range(), range_nbytes);
}

TEST_F(MappingsTest, system_pages_that_could_not_be_unmapped_are_unmapped_later) {
  std::byte* const address = system_pages().map(page_nbytes, range_nbytes, page_nbytes);
  system.unmaps = false;
  system_pages().unmap(address, page_nbytes, range_nbytes);
  system.unmaps = true;
  detail::unmap(map_range(), range_nbytes);
  EXPECT_FALSE(is_mapped(address));
}

TEST_F(MappingsTest, a_failed_map_of_a_file_is_retried_after_refused_unmaps) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(range_nbytes, 'f'));
  const detail::Descriptor file = byre::system::open_to_read((folder / "file").string().c_str());
  const std::byte* const range = refused();
  system.refuse_maps(1);
  std::byte* const next = detail::map_file_pages(file, range_nbytes, byre::system::Access::read);
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next == range || !is_mapped(range));
  EXPECT_EQ(*next, std::byte{'f'});
  detail::unmap(next, range_nbytes);
}

}  // namespace
}  // namespace byre::test
