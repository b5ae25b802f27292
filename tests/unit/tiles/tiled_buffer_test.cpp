// SPDX-License-Identifier: BSL-1.0
// What a tiled buffer is: a value, of which a lazy clone is written tile by tile.
#include "tiles.hpp"

#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

using Tiles = std::vector<std::size_t>;

template <class Tiled>
class OfTiles : public testing::Test {};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(OfTiles, Widths);

TYPED_TEST(OfTiles, a_new_one_has_tiles_for_all_bytes_and_the_last_one_is_shorter) {
  FailingAllocator allocator;
  TypeParam tiled(21, allocator, 8);
  EXPECT_EQ(tiled.nbytes(), 21U);
  EXPECT_EQ(tiled.tile_nbytes(), 8U);
  EXPECT_EQ(tiled.tile_count(), 3U);
  EXPECT_EQ(&tiled.allocator(), &allocator);
  EXPECT_EQ(allocator.blocks_out(), 3U);
  EXPECT_EQ(tiled.tile(0).size(), 8U);
  EXPECT_EQ(tiled.tile(2).size(), 5U);
  EXPECT_EQ(tiled.mutable_tile(1).size(), 8U);
  EXPECT_EQ(tiled.mutable_tile(2).size(), 5U);
  EXPECT_EQ(TypeParam(24, allocator, 8).tile_count(), 3U);
}

TYPED_TEST(OfTiles, an_empty_one_has_no_tile_and_may_be_filled) {
  TypeParam tiled;
  EXPECT_EQ(tiled.nbytes(), 0U);
  EXPECT_EQ(tiled.tile_count(), 0U);
  EXPECT_EQ(tiled.tile_nbytes(), std::size_t{64} << 10);
  EXPECT_EQ(&tiled.allocator(), &default_allocator());
  EXPECT_FALSE(tiled.shares_data_with(TypeParam(tiled)));
  EXPECT_EQ(differences(tiled, TypeParam()), Tiles());
  tiled.truncate(0);
  tiled.append({});
  EXPECT_EQ(tiled.tile_count(), 0U);
  tiled.append(bytes_of("abc"));
  EXPECT_EQ(text_of(tiled), "abc");
}

TYPED_TEST(OfTiles, a_clone_shares_all_tiles_until_one_of_the_two_is_written) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabbbbccccdddd", allocator);
  TypeParam clone = source;
  EXPECT_TRUE(clone.shares_data_with(source));
  EXPECT_EQ(allocator.blocks_out(), 4U);
  put(clone, 2, 'X');
  EXPECT_FALSE(clone.shares_data_with(source));
  EXPECT_EQ(allocator.allocations(), 4 + 1);
  EXPECT_EQ(text_of(source), "aaaabbbbccccdddd");
  EXPECT_EQ(text_of(clone), "aaaabbbbXcccdddd");
  for (const std::size_t tile : {0U, 1U, 3U}) {
    EXPECT_TRUE(clone.shares_tile_with(source, tile));
    EXPECT_EQ(clone.tile(tile).data(), source.tile(tile).data());
  }
  EXPECT_FALSE(clone.shares_tile_with(source, 2));
  EXPECT_FALSE(clone.shares_tile_with(source, 4));
  put(source, 2, 'Y');  // nobody else has that tile any more
  EXPECT_EQ(allocator.allocations(), 5);
  EXPECT_EQ(text_of(clone), "aaaabbbbXcccdddd");
  EXPECT_EQ(allocator.blocks_out(), 5U);
  clone = TypeParam();
  EXPECT_EQ(allocator.blocks_out(), 4U);
  put(source, 0, 'Z');
  EXPECT_EQ(allocator.allocations(), 5);
  source = TypeParam();
  EXPECT_EQ(allocator.blocks_out(), 0U);
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

TYPED_TEST(OfTiles, clones_of_clones_are_apart_whatever_is_written_in_which_order) {
  const auto source = tiled_of<TypeParam>("aaaabbbbccccddddeeee");
  TypeParam child = source;
  put(child, 1, '1');
  TypeParam grandchild = child;
  put(grandchild, 1, '2');
  put(grandchild, 4, '3');
  put(child, 4, '4');
  EXPECT_EQ(text_of(source), "aaaabbbbccccddddeeee");
  EXPECT_EQ(text_of(child), "aaaa1bbbccccdddd4eee");
  EXPECT_EQ(text_of(grandchild), "aaaa2bbbccccdddd3eee");
  EXPECT_EQ(differences(source, child), (Tiles{1, 4}));
  EXPECT_EQ(differences(child, grandchild), (Tiles{1, 4}));
  EXPECT_TRUE(grandchild.shares_tile_with(source, 3));
}

TYPED_TEST(OfTiles, moving_leaves_the_source_without_bytes_and_keeps_the_tiles) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabb", allocator);
  const std::byte* const first = source.tile(0).data();
  TypeParam moved = std::move(source);
  EXPECT_EQ(source.nbytes(), 0U);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(source.tile_count(), 0U);
  EXPECT_EQ(moved.tile(0).data(), first);
  EXPECT_EQ(moved.tile_nbytes(), 4U);
  EXPECT_EQ(&moved.allocator(), &allocator);
  EXPECT_EQ(text_of(moved), "aaaabb");
  TypeParam other = tiled_of<TypeParam>("x");
  swap(moved, other);
  EXPECT_EQ(text_of(moved), "x");
  EXPECT_EQ(text_of(other), "aaaabb");
  swap(other, other);
  EXPECT_EQ(text_of(other), "aaaabb");
  moved = other;
  EXPECT_TRUE(moved.shares_data_with(other));
}

TYPED_TEST(OfTiles, differences_are_named_in_order_and_shared_parts_are_not_looked_at) {
  const auto source = tiled_of<TypeParam>(std::string(3000, 'a'), default_allocator(), 1);
  TypeParam clone = source;
  EXPECT_EQ(differences(source, clone), Tiles());
  for (const std::size_t tile : {2999U, 0U, 1500U, 1U}) {
    put(clone, tile, 'b');
  }
  EXPECT_EQ(differences(source, clone), (Tiles{0, 1, 1500, 2999}));
  EXPECT_EQ(differences(clone, source), (Tiles{0, 1, 1500, 2999}));
  clone.truncate(1501);
  Tiles expected{0, 1, 1500};
  for (std::size_t tile = 1501; tile < 3000; ++tile) {
    expected.push_back(tile);
  }
  EXPECT_EQ(differences(source, clone), expected);
  EXPECT_EQ(differences(clone, source), expected);
  clone.truncate(1);
  EXPECT_EQ(differences(source, clone).size(), 3000U);
  EXPECT_EQ(differences(clone, TypeParam(0, default_allocator(), 1)), (Tiles{0}));
}

TYPED_TEST(OfTiles, equal_bytes_that_are_not_shared_are_a_difference) {
  EXPECT_EQ(differences(tiled_of<TypeParam>("aaaabb"), tiled_of<TypeParam>("aaaabb")),
            (Tiles{0, 1}));
}

TYPED_TEST(OfTiles, of_another_size_are_shared_with_none_at_any_number) {
  const TypeParam small(4 * 5000, default_allocator(), 4);
  const TypeParam large(4 * 5000, default_allocator(), 4 * 1000);
  for (const std::size_t tile : {0U, 4U, 5U, 7U, 4999U, 5000U}) {
    EXPECT_FALSE(small.shares_tile_with(large, tile));
    EXPECT_FALSE(large.shares_tile_with(small, tile));
  }
}

TYPED_TEST(OfTiles, what_a_visit_throws_is_passed_on) {
  const auto source = tiled_of<TypeParam>("aaaabbbb");
  const TypeParam other = tiled_of<TypeParam>("aaaabbbb");
  EXPECT_THROW(for_each_difference(source, other, [](std::size_t tile) { throw tile; }),
               std::size_t);
}

TYPED_TEST(OfTiles, tiles_of_a_device_are_copied_by_it_and_never_touched_by_the_host) {
  DeviceAllocator device;
  {
    TypeParam tiled(3 * 8192, device, 8192);
    TypeParam clone = tiled;
    device.fill(clone.mutable_tile(1).data(), 7, 8192);
    EXPECT_EQ(device.copies(), 1);
    EXPECT_EQ(device.value_at(tiled.tile(1).data()), 0xA5);
    EXPECT_EQ(device.value_at(clone.tile(1).data()), 7);
    tiled.append(clone.tile(1));
    EXPECT_EQ(device.value_at(tiled.tile(3).data() + 8191), 7);
    clone.write(100, tiled.tile(1));
    EXPECT_EQ(device.value_at(clone.tile(1).data() + 99), 0xA5);
    EXPECT_EQ(device.value_at(clone.tile(1).data() + 100), 7);
    EXPECT_EQ(device.largest_prefix(), 0U);
  }
  EXPECT_EQ(device.blocks_out(), 0U);
}

TYPED_TEST(OfTiles, tiles_of_pages_are_written_by_pages) {
  constexpr std::size_t tile_nbytes = 2 * least_paged_nbytes;
  TypeParam source(2 * tile_nbytes, paged_allocator(), tile_nbytes);
  std::memset(source.mutable_tile(0).data(), 1, tile_nbytes);
  std::memset(source.mutable_tile(1).data(), 2, tile_nbytes);
  TypeParam clone = source;
  clone.mutable_tile(1)[tile_nbytes - 1] = std::byte{3};
  EXPECT_EQ(source.tile(1)[tile_nbytes - 1], std::byte{2});
  EXPECT_EQ(clone.tile(1)[tile_nbytes - 1], std::byte{3});
  EXPECT_EQ(clone.tile(1)[0], std::byte{2});
  EXPECT_TRUE(clone.shares_tile_with(source, 0));
}

TEST(Tiles, of_whole_pages_have_no_header_in_front_and_smaller_ones_have) {
  class Watched final : public Allocator {
   public:
    Block allocate(const Request& request) override {
      prefixes.push_back(request.prefix);
      return aligned_allocator().allocate(request);
    }
    void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
    const char* name() const noexcept override { return "watched"; }
    std::vector<std::size_t> prefixes;
  } watched;
  const TiledBuffer tiled(page_nbytes, watched, page_nbytes);
  TiledBuffer clone = tiled;
  put(clone, 0, 'a');  // a copy has its header where the first has it
  EXPECT_EQ(watched.prefixes, (std::vector<std::size_t>{0, 0}));
  const TiledBuffer small(1, watched, page_nbytes - 1);
  ASSERT_EQ(watched.prefixes.size(), 3U);
  EXPECT_GT(watched.prefixes[2], 0U);
}

TEST(Tiles, are_aligned_and_apart) {
  TiledBuffer tiled(1000, default_allocator(), 100);
  for (std::size_t tile = 0; tile < tiled.tile_count(); ++tile) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tiled.tile(tile).data()) % data_alignment, 0U);
    std::memset(tiled.mutable_tile(tile).data(), static_cast<int>(tile), 100);
  }
  for (std::size_t tile = 0; tile < tiled.tile_count(); ++tile) {
    EXPECT_EQ(tiled.tile(tile)[0], std::byte(tile));
    EXPECT_EQ(tiled.tile(tile)[99], std::byte(tile));
  }
}

class CountedTiles : public WithStats {};

TEST_F(CountedTiles, a_clone_is_counted_once_and_the_table_s_sharing_never) {
  const auto source = tiled_of<TiledBuffer>(std::string(200, 'a'));
  const Counted counted;
  TiledBuffer clone = source;
  EXPECT_EQ(counted.since().lazy_clones, 1);
  EXPECT_EQ(counted.since().bytes_not_copied, 200);
  put(clone, 40, 'b');
  EXPECT_EQ(counted.since().lazy_clones, 1) << counted.text();
  EXPECT_EQ(counted.since().copies, 1);
  EXPECT_EQ(counted.since().bytes_copied, 4);
  put(clone, 40, 'c');
  EXPECT_EQ(counted.since().copies, 1);
  const TiledBuffer second = clone.lazy_clone();
  EXPECT_EQ(counted.since().lazy_clones, 2);
}

TEST_F(CountedTiles, a_copy_s_event_names_the_line_that_wrote) {
  const auto source = tiled_of<TiledBuffer>("aaaabbbb");
  TiledBuffer clone = source;
  const Recorder recorder;
  clone.mutable_tile(1);
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].nbytes, 4U);
  EXPECT_EQ(events[0].site.line, line);
  clone.write(0, bytes_of("x"));
  const auto of_write = recorder.events();
  ASSERT_EQ(of_write.size(), 2U);
  EXPECT_EQ(of_write[1].site.line, line + 6);
}

}  // namespace
}  // namespace byre::test
