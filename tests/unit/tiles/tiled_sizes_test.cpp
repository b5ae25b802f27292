// SPDX-License-Identifier: BSL-1.0
// Sizes and ranges of tiled buffers: what grows, shrinks, and is read and written across tiles.
#include "tiles.hpp"

#include <byre/error/error.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

using Tiles = std::vector<std::size_t>;

template <class Tiled>
class SizesOfTiles : public testing::Test {};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(SizesOfTiles, Widths);

TYPED_TEST(SizesOfTiles, appending_fills_the_last_tile_and_copies_it_alone_where_it_is_shared) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabb", allocator);
  TypeParam clone = source;
  const int before = allocator.allocations();
  clone.append(bytes_of("ccddddd"));
  EXPECT_EQ(text_of(clone), "aaaabbccddddd");
  EXPECT_EQ(allocator.allocations() - before, 1 + 2);  // a copy, and two tiles more
  EXPECT_EQ(text_of(source), "aaaabb");
  EXPECT_TRUE(clone.shares_tile_with(source, 0));
  EXPECT_FALSE(clone.shares_tile_with(source, 1));
  source.append(bytes_of("zz"));  // in place: the clone has a copy
  EXPECT_EQ(text_of(source), "aaaabbzz");
  EXPECT_EQ(text_of(clone), "aaaabbccddddd");
}

TYPED_TEST(SizesOfTiles, appending_behind_full_tiles_copies_none) {
  FailingAllocator allocator;
  const auto source = tiled_of<TypeParam>("aaaabbbb", allocator);
  TypeParam clone = source;
  const int before = allocator.allocations();
  clone.append(bytes_of("cc"));
  EXPECT_EQ(allocator.allocations() - before, 1);
  EXPECT_EQ(differences(source, clone), (Tiles{2}));
  EXPECT_EQ(text_of(clone), "aaaabbbbcc");
}

TYPED_TEST(SizesOfTiles, truncating_copies_nothing_and_gives_back_tiles_that_nobody_else_has) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabbbbccccddddeeee", allocator);
  TypeParam clone = source;
  const int before = allocator.allocations();
  clone.truncate(10);
  EXPECT_EQ(text_of(clone), "aaaabbbbcc");
  EXPECT_EQ(clone.tile(2).size(), 2U);
  EXPECT_EQ(allocator.allocations(), before);
  EXPECT_TRUE(clone.shares_tile_with(source, 2));
  EXPECT_EQ(text_of(source), "aaaabbbbccccddddeeee");
  source.truncate(4);
  EXPECT_EQ(allocator.blocks_out(), 3U);
  EXPECT_EQ(text_of(clone), "aaaabbbbcc");
  clone.truncate(0);
  EXPECT_EQ(allocator.blocks_out(), 1U);
  source.truncate(4);
  EXPECT_EQ(text_of(source), "aaaa");
}

TYPED_TEST(SizesOfTiles, what_was_cut_off_a_shared_tile_stays_the_others) {
  auto source = tiled_of<TypeParam>("aaaabbbb");
  TypeParam clone = source;
  clone.truncate(5);
  clone.append(bytes_of("xyz!"));
  EXPECT_EQ(text_of(clone), "aaaabxyz!");
  EXPECT_EQ(text_of(source), "aaaabbbb");
}

TYPED_TEST(SizesOfTiles,
           a_clone_that_is_cut_within_a_tile_shares_all_tiles_and_is_not_the_same_data) {
  const auto source = tiled_of<TypeParam>("aaaabbbb");
  TypeParam clone = source;
  clone.truncate(7);
  EXPECT_EQ(differences(source, clone), Tiles());
  EXPECT_FALSE(clone.shares_data_with(source));
}

TYPED_TEST(SizesOfTiles, a_change_of_size_within_a_tile_and_back_is_seen_in_no_byte) {
  const auto source = tiled_of<TypeParam>("aaaabbbb");
  TypeParam clone = source;
  clone.truncate(6);
  EXPECT_FALSE(clone.shares_data_with(source));
  clone.resize(8);
  EXPECT_TRUE(clone.shares_data_with(source));
  EXPECT_EQ(text_of(clone), "aaaabbbb");
}

TYPED_TEST(SizesOfTiles, what_was_moved_from_is_filled_as_a_new_one) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabb", allocator);
  const TypeParam moved = std::move(source);
  source.append(bytes_of("xyz"));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(text_of(source), "xyz");
  EXPECT_EQ(&source.allocator(), &default_allocator());
  EXPECT_EQ(source.tile_nbytes(), TypeParam::default_tile_nbytes);
  EXPECT_EQ(text_of(moved), "aaaabb");
}

TYPED_TEST(SizesOfTiles, resizing_keeps_the_bytes_up_to_the_smaller_size) {
  FailingAllocator allocator;
  auto tiled = tiled_of<TypeParam>("aaaabb", allocator);
  const TypeParam clone = tiled;
  const int before = allocator.allocations();
  tiled.resize(70);
  EXPECT_EQ(tiled.nbytes(), 70U);
  EXPECT_EQ(tiled.tile_count(), 18U);
  EXPECT_EQ(text_of(tiled).substr(0, 6), "aaaabb");
  EXPECT_EQ(allocator.allocations() - before, 16);
  tiled.write(66, bytes_of("zzzz"));
  tiled.resize(3);
  EXPECT_EQ(text_of(tiled), "aaa");
  EXPECT_EQ(allocator.blocks_out(), 2U);
  tiled.resize(3);
  EXPECT_EQ(text_of(clone), "aaaabb");
}

TYPED_TEST(SizesOfTiles, a_table_grows_and_shrinks_with_the_number_of_tiles) {
  FailingAllocator allocator;
  TypeParam tiled(0, allocator, 1);
  std::string text;
  for (const std::size_t count : {1U,    2U,  3U,  31U, 32U, 33U, 64U,   1023U, 1024U, 1025U,
                                  1100U, 40U, 32U, 31U, 5U,  1U,  2000U, 1024U, 0U,    7U}) {
    const std::size_t before = text.size();
    text.resize(count, '.');
    for (std::size_t tile = before; tile < count; ++tile) {
      text[tile] = static_cast<char>('a' + tile % 23);
    }
    const TypeParam clone = tiled;  // so that shared nodes are what changes
    if (count < before) {
      tiled.truncate(count);
    } else {
      tiled.append(bytes_of(text).subspan(before));
    }
    EXPECT_EQ(text_of(tiled), text);
    EXPECT_EQ(differences(clone, tiled).size(), std::max(before, count) - std::min(before, count));
    EXPECT_EQ(clone.nbytes(), before);
  }
  EXPECT_EQ(allocator.blocks_out(), 7U);
}

TYPED_TEST(SizesOfTiles, ranges_are_read_and_written_across_tiles) {
  auto tiled = tiled_of<TypeParam>("aaaabbbbccccdd");
  const TypeParam clone = tiled;
  tiled.write(3, bytes_of("123456"));
  EXPECT_EQ(text_of(tiled), "aaa123456cccdd");
  EXPECT_EQ(text_of(clone), "aaaabbbbccccdd");
  EXPECT_EQ(differences(tiled, clone), (Tiles{0, 1, 2}));
  std::vector<std::string> parts;
  tiled.for_each_part(2, 8, [&](std::span<const std::byte> part) {
    parts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
  });
  EXPECT_EQ(parts, (std::vector<std::string>{"a1", "2345", "6c"}));
  std::string two(2, '?');
  tiled.read(12, std::as_writable_bytes(std::span(two)));
  EXPECT_EQ(two, "dd");
  tiled.read(14, {});
  tiled.write(14, {});
  EXPECT_EQ(text_of(tiled), "aaa123456cccdd");
}

TYPED_TEST(SizesOfTiles, wrong_arguments_are_refused_and_change_nothing) {
  auto tiled = tiled_of<TypeParam>("aaaabb");
  const auto refuses = [&](auto call, const char* text) {
    try {
      call();
      ADD_FAILURE() << "not refused: " << text;
    } catch (const InvalidArgument& error) {
      EXPECT_TRUE(says(error.what(), text)) << error.what();
    }
    EXPECT_EQ(text_of(tiled), "aaaabb");
  };
  std::string three(3, '?');
  refuses([&] { (void)tiled.tile(2); }, "tile(2) of a tiled buffer of 2 tiles, of 6 bytes in all");
  refuses([&] { tiled.mutable_tile(2); }, "mutable_tile(2) of a tiled buffer of 2 tiles");
  refuses([&] { tiled.read(4, std::as_writable_bytes(std::span(three))); },
          "3 bytes from byte 4 on, of a tiled buffer of 6 bytes");
  refuses([&] { tiled.read(SIZE_MAX, std::as_writable_bytes(std::span(three))); },
          "for_each_part of 3 bytes");
  refuses([&] { tiled.write(4, bytes_of("abc")); }, "write of 3 bytes from byte 4 on");
  refuses([&] { tiled.truncate(7); }, "truncate to 7 bytes of a tiled buffer of 6 bytes");
  refuses([&] { tiled.resize(max_nbytes + 1); }, "bytes");
  refuses([&] { tiled.append(std::span(tiled.tile(0).data(), max_nbytes)); }, "bytes");
  refuses([&] { TypeParam(1, default_allocator(), 0); }, "in tiles of 0 bytes");
  refuses([&] { TypeParam(1, default_allocator(), max_nbytes + 1); }, "bytes");
  const auto other = tiled_of<TypeParam>("a", default_allocator(), 5);
  refuses([&] { (void)differences(tiled, other); }, "tiles of 4 bytes and of 5");
  refuses([&] { (void)differences(other, tiled); }, "tiles of 5 bytes and of 4");
  EXPECT_EQ(TypeParam(0, default_allocator(), max_nbytes).tile_nbytes(), max_nbytes);
}

}  // namespace
}  // namespace byre::test
