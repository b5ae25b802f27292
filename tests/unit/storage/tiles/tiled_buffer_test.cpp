// SPDX-License-Identifier: BSL-1.0
// Tiled buffers are values, and a write to a lazy clone copies single tiles. After random steps,
// stress/programs compares bytes, shared tiles and copies with a model.
#include "tiles.hpp"

#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

template <class Tiled>
class TiledBuffers : public testing::Test {};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(TiledBuffers, Widths);

TYPED_TEST(TiledBuffers, new_tiles_are_aligned_and_the_last_is_shorter) {
  FailingAllocator allocator;
  TypeParam tiled(210, allocator, 80);
  EXPECT_EQ(tiled.tile_count(), 3U);
  EXPECT_EQ(&tiled.allocator(), &allocator);
  EXPECT_EQ(allocator.blocks_out(), 3U);
  EXPECT_EQ(tiled.tile(2).size(), 50U);
  EXPECT_EQ(tiled.mutable_tile(1).size(), 80U);
  EXPECT_EQ(tiled.mutable_tile(2).size(), 50U);
  for (std::size_t tile = 0; tile < tiled.tile_count(); ++tile) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tiled.tile(tile).data()) % data_alignment, 0U);
  }
}

TYPED_TEST(TiledBuffers, empty_and_moved_from_buffers_may_be_filled) {
  FailingAllocator allocator;
  auto source = tiled_of<TypeParam>("aaaabb", allocator);
  const std::byte* const first = source.tile(0).data();
  const TypeParam moved = std::move(source);
  TypeParam none;
  for (TypeParam* const each : {&none, &source}) {  // NOLINT(bugprone-use-after-move)
    TypeParam& empty = *each;
    EXPECT_EQ(empty.nbytes(), 0U);
    EXPECT_EQ(empty.tile_count(), 0U);
    EXPECT_EQ(empty.tile_nbytes(), std::size_t{64} << 10);
    EXPECT_EQ(&empty.allocator(), &default_allocator());
    EXPECT_FALSE(empty.shares_data_with(TypeParam(empty)));
    EXPECT_TRUE(differences(empty, TypeParam()).empty());
    empty.truncate(0);
    empty.append({});
    empty.append(bytes_of("abc"));
    EXPECT_EQ(text_of(empty), "abc");
  }
  EXPECT_EQ(moved.tile(0).data(), first);
  EXPECT_EQ(moved.tile_nbytes(), 4U);
  EXPECT_EQ(&moved.allocator(), &allocator);
  EXPECT_EQ(text_of(moved), "aaaabb");
}

TYPED_TEST(TiledBuffers, a_resize_within_a_tile_and_back_changes_no_byte) {
  const auto source = tiled_of<TypeParam>("aaaabbbb");
  TypeParam clone = source;
  clone.truncate(6);
  EXPECT_FALSE(clone.shares_data_with(source));
  clone.resize(8);
  EXPECT_TRUE(clone.shares_data_with(source));
  EXPECT_EQ(text_of(clone), "aaaabbbb");
}

TYPED_TEST(TiledBuffers, buffers_with_different_tile_sizes_share_no_tile) {
  const TypeParam small(4 * 5000, default_allocator(), 4);
  const TypeParam large(4 * 5000, default_allocator(), 4 * 1000);
  for (const std::size_t tile : {0U, 4U, 5U, 7U, 4999U, 5000U}) {
    EXPECT_FALSE(small.shares_tile_with(large, tile));
    EXPECT_FALSE(large.shares_tile_with(small, tile));
  }
}

TYPED_TEST(TiledBuffers, an_exception_thrown_by_a_visitor_propagates) {
  const auto source = tiled_of<TypeParam>("aaaabbbb");
  const TypeParam other = tiled_of<TypeParam>("aaaabbbb");
  EXPECT_THROW(for_each_difference(source, other, [](std::size_t tile) { throw tile; }),
               std::size_t);
}

TYPED_TEST(TiledBuffers, device_tiles_are_copied_by_the_device_only) {
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

TYPED_TEST(TiledBuffers, a_write_to_a_paged_tile_copies_pages) {
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

TYPED_TEST(TiledBuffers, a_range_is_visited_in_parts_that_end_at_tile_bounds) {
  const auto tiled = tiled_of<TypeParam>("aaa123456cccdd");
  std::vector<std::string> parts;
  tiled.for_each_part(2, 8, [&](std::span<const std::byte> part) {
    parts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
  });
  EXPECT_EQ(parts, (std::vector<std::string>{"a1", "2345", "6c"}));
  tiled.read(14, {});
}

TYPED_TEST(TiledBuffers, invalid_arguments_throw_and_change_nothing) {
  auto tiled = tiled_of<TypeParam>("aaaabb");
  const auto expect_rejected = [&](auto call, const char* text) {
    try {
      call();
      ADD_FAILURE() << "did not throw: " << text;
    } catch (const InvalidArgument& error) {
      EXPECT_TRUE(says(error.what(), text)) << error.what();
    }
    EXPECT_EQ(text_of(tiled), "aaaabb");
  };
  std::string three(3, '?');
  expect_rejected([&] { (void)tiled.tile(2); },
                  "tile(2): index out of range, the tiled buffer has 2 tiles (6 bytes in all)");
  expect_rejected([&] { tiled.mutable_tile(2); }, "mutable_tile(2): index out of range");
  expect_rejected([&] { tiled.read(4, std::as_writable_bytes(std::span(three))); },
                  "3 bytes from byte 4 on are out of range, the tiled buffer has 6 bytes");
  expect_rejected([&] { tiled.read(SIZE_MAX, std::as_writable_bytes(std::span(three))); },
                  "for_each_part: 3 bytes");
  expect_rejected([&] { tiled.write(4, bytes_of("abc")); }, "write: 3 bytes from byte 4 on");
  expect_rejected([&] { tiled.truncate(7); }, "truncate to 7 bytes: the tiled buffer has 6 bytes");
  expect_rejected([&] { tiled.resize(max_nbytes + 1); }, "bytes");
  expect_rejected([&] { tiled.append(std::span(tiled.tile(0).data(), max_nbytes)); }, "bytes");
  expect_rejected([&] { TypeParam(1, default_allocator(), 0); }, "tile_nbytes is 0");
  expect_rejected([&] { TypeParam(1, default_allocator(), max_nbytes + 1); }, "bytes");
  const auto other = tiled_of<TypeParam>("a", default_allocator(), 5);
  expect_rejected([&] { (void)differences(tiled, other); }, "tiles have 4 and 5 bytes");
  expect_rejected([&] { (void)differences(other, tiled); }, "tiles have 5 and 4 bytes");
  EXPECT_EQ(TypeParam(0, default_allocator(), max_nbytes).tile_nbytes(), max_nbytes);
}

TEST(Tiles, only_tiles_smaller_than_a_page_have_headers_before_data) {
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
  put(clone, 0, 'a');  // a copied tile has no header in front, either
  EXPECT_EQ(watched.prefixes, (std::vector<std::size_t>{0, 0}));
  const TiledBuffer small(1, watched, page_nbytes - 1);
  ASSERT_EQ(watched.prefixes.size(), 3U);
  EXPECT_GT(watched.prefixes[2], 0U);
}

class CountedTiles : public WithStats {};

TEST_F(CountedTiles, a_copy_event_names_the_line_of_the_write) {
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
