// SPDX-License-Identifier: BSL-1.0
// Tiles of the C interface.
#include <utility>
#include <vector>

#include "values.hpp"

namespace byre::test {
namespace {

constexpr std::size_t tile_nbytes = 4;

/// Fills `tiles` with the characters of `text`, in tiles of 4 bytes.
void fill(byre_tiles* tiles, std::string_view text) {
  ASSERT_TRUE(ok(byre_tiles_allocate(0, tile_nbytes, byre_aligned_allocator(), tiles)));
  ASSERT_TRUE(ok(byre_tiles_append(tiles, text.data(), text.size(), BYRE_WAIT_ALLOWED)));
}

std::string text_of_tiles(const byre_tiles* tiles) {
  std::string text(byre_tiles_nbytes(tiles), '\0');
  EXPECT_TRUE(ok(byre_tiles_read(tiles, 0, text.data(), text.size())));
  return text;
}

TEST(CTilesTest, zeros_and_null_read_as_empty_tiles) {
  CTiles empty, clone;
  const byre_tiles* const both[] = {empty, nullptr};
  for (const byre_tiles* tiles : both) {
    EXPECT_EQ(byre_tiles_nbytes(tiles), 0U);
    EXPECT_EQ(byre_tiles_tile_count(tiles), 0U);
    EXPECT_EQ(byre_tiles_tile_nbytes(tiles), BYRE_DEFAULT_TILE_NBYTES);
    EXPECT_EQ(byre_tiles_allocator(tiles), byre_default_allocator());
    EXPECT_EQ(byre_tiles_shares_data_with(tiles, empty), 0);
    EXPECT_EQ(byre_tiles_shares_tile_with(tiles, empty, 0), 0);
    EXPECT_TRUE(ok(byre_tiles_read(tiles, 0, nullptr, 0)));
    EXPECT_TRUE(ok(byre_tiles_clone(tiles, clone)));
  }
  byre_tiles_release(nullptr);
  byre_tiles_swap(nullptr, empty);
  EXPECT_TRUE(ok(byre_tiles_append(empty, "cow", 3, BYRE_WAIT_ALLOWED)));
  EXPECT_EQ(text_of_tiles(empty), "cow");
}

TEST(CTilesTest, write_copies_only_the_tiles_that_it_touches) {
  CTiles tiles, clone;
  fill(tiles, "0123456789");
  EXPECT_EQ(byre_tiles_tile_count(tiles), 3U);
  EXPECT_EQ(byre_tiles_tile_nbytes(tiles), tile_nbytes);
  EXPECT_EQ(byre_tiles_allocator(tiles), byre_aligned_allocator());
  ASSERT_TRUE(ok(byre_tiles_clone(tiles, clone)));
  EXPECT_EQ(byre_tiles_shares_data_with(tiles, clone), 1);
  ASSERT_TRUE(ok(byre_tiles_write(clone, 5, "x", 1, BYRE_WAIT_ALLOWED)));
  EXPECT_EQ(byre_tiles_shares_data_with(tiles, clone), 0);
  EXPECT_EQ(byre_tiles_shares_tile_with(tiles, clone, 0), 1);
  EXPECT_EQ(byre_tiles_shares_tile_with(tiles, clone, 1), 0);
  EXPECT_EQ(byre_tiles_shares_tile_with(tiles, clone, 3), 0);
  EXPECT_EQ(text_of_tiles(tiles), "0123456789");
  EXPECT_EQ(text_of_tiles(clone), "01234x6789");
  byre_tiles_swap(tiles, clone);
  EXPECT_EQ(text_of_tiles(clone), "0123456789");
  byre_tiles_release(clone);
  byre_tiles_release(clone);
  EXPECT_EQ(byre_tiles_nbytes(clone), 0U);
}

TEST(CTilesTest, tile_is_read_and_written_through_its_address) {
  CTiles tiles, clone;
  fill(tiles, "0123456789");
  ASSERT_TRUE(ok(byre_tiles_clone(tiles, clone)));
  const void* data = nullptr;
  std::size_t nbytes = 0;
  ASSERT_TRUE(ok(byre_tiles_tile(clone, 2, &data, &nbytes)));
  EXPECT_EQ(text_of(data, nbytes), "89");
  ASSERT_TRUE(ok(byre_tiles_tile(clone, 0, &data, nullptr)));
  EXPECT_EQ(text_of(data, 4), "0123");
  void* to_write = nullptr;
  ASSERT_TRUE(ok(byre_tiles_mutable_tile(clone, 2, BYRE_WAIT_ALLOWED, &to_write, &nbytes)));
  EXPECT_EQ(nbytes, 2U);
  std::memcpy(to_write, "xy", 2);
  ASSERT_TRUE(ok(byre_tiles_mutable_tile(clone, 0, BYRE_WAIT_NEVER, &to_write, nullptr)));
  EXPECT_EQ(text_of_tiles(clone), "01234567xy");
  EXPECT_EQ(text_of_tiles(tiles), "0123456789");
  EXPECT_TRUE(fails(byre_tiles_tile(clone, 3, &data, &nbytes), BYRE_INVALID_ARGUMENT, "tile(3)"));
  EXPECT_EQ(data, nullptr);
  EXPECT_TRUE(fails(byre_tiles_mutable_tile(clone, 3, BYRE_WAIT_ALLOWED, &to_write, &nbytes),
                    BYRE_INVALID_ARGUMENT, "mutable_tile(3)"));
  EXPECT_EQ(to_write, nullptr);
}

TEST(CTilesTest, size_changes_keep_the_bytes) {
  CTiles tiles;
  fill(tiles, "0123456789");
  ASSERT_TRUE(ok(byre_tiles_truncate(tiles, 6, BYRE_WAIT_ALLOWED)));
  EXPECT_EQ(text_of_tiles(tiles), "012345");
  EXPECT_TRUE(
      fails(byre_tiles_truncate(tiles, 7, BYRE_WAIT_ALLOWED), BYRE_INVALID_ARGUMENT, "truncate"));
  ASSERT_TRUE(ok(byre_tiles_resize(tiles, 9, BYRE_WAIT_ALLOWED)));
  EXPECT_EQ(text_of_tiles(tiles).substr(0, 6), "012345");
  EXPECT_EQ(byre_tiles_nbytes(tiles), 9U);
  ASSERT_TRUE(ok(byre_tiles_resize(tiles, 3, BYRE_WAIT_ALLOWED)));
  EXPECT_EQ(text_of_tiles(tiles), "012");
}

TEST(CTilesTest, ranges_and_sizes_out_of_range_are_refused) {
  CTiles tiles;
  fill(tiles, "0123456789");
  char bytes[4] = {};
  void* data = nullptr;
  for (const byre_status status : {byre_tiles_read(tiles, 7, bytes, 4),
                                   byre_tiles_write(tiles, 7, bytes, 4, BYRE_WAIT_ALLOWED)}) {
    EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "out of range", "10 bytes"));
  }
  for (const byre_status status : {byre_tiles_read(tiles, 0, nullptr, 4),
                                   byre_tiles_write(tiles, 0, nullptr, 4, BYRE_WAIT_ALLOWED),
                                   byre_tiles_append(tiles, nullptr, 4, BYRE_WAIT_ALLOWED)}) {
    EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "byre_tiles_", "null pointer to 4 bytes"));
  }
  for (const byre_status status :
       {byre_tiles_write(tiles, 0, bytes, 1, 2), byre_tiles_append(tiles, bytes, 1, 2),
        byre_tiles_resize(tiles, 1, 2), byre_tiles_truncate(tiles, 1, 2),
        byre_tiles_mutable_tile(tiles, 0, 2, &data, nullptr)}) {
    EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "byre_wait is 2"));
  }
  EXPECT_TRUE(
      fails(byre_tiles_allocate(1, 0, nullptr, tiles), BYRE_INVALID_ARGUMENT, "tile_nbytes is 0"));
  EXPECT_EQ(text_of_tiles(tiles), "0123456789");
}

TEST(CTilesTest, null_for_a_result_is_refused) {
  CTiles tiles;
  fill(tiles, "0123");
  void* data = nullptr;
  const auto refused = [](byre_status status, const char* name) {
    return fails(status, BYRE_INVALID_ARGUMENT, "byre_tiles_",
                 std::string("`") + name + "` is NULL");
  };
  EXPECT_TRUE(refused(byre_tiles_allocate(1, 1, nullptr, nullptr), "result"));
  EXPECT_TRUE(refused(byre_tiles_clone(tiles, nullptr), "result"));
  EXPECT_TRUE(refused(byre_tiles_tile(tiles, 0, nullptr, nullptr), "data"));
  EXPECT_TRUE(refused(byre_tiles_mutable_tile(tiles, 0, 0, nullptr, nullptr), "data"));
  EXPECT_TRUE(refused(byre_tiles_mutable_tile(nullptr, 0, 0, &data, nullptr), "tiles"));
  EXPECT_TRUE(refused(byre_tiles_write(nullptr, 0, "x", 0, 0), "tiles"));
  EXPECT_TRUE(refused(byre_tiles_append(nullptr, "x", 0, 0), "tiles"));
  EXPECT_TRUE(refused(byre_tiles_resize(nullptr, 0, 0), "tiles"));
  EXPECT_TRUE(refused(byre_tiles_truncate(nullptr, 0, 0), "tiles"));
  EXPECT_TRUE(refused(byre_tiles_for_each_part(tiles, 0, 1, nullptr, nullptr), "callback"));
  EXPECT_TRUE(refused(byre_tiles_for_each_difference(tiles, tiles, nullptr, nullptr), "callback"));
}

byre_status append_part(void* user, const void* data, std::size_t nbytes) {
  auto& parts = *static_cast<std::vector<std::string>*>(user);
  parts.push_back(text_of(data, nbytes));
  return parts.size() == 3 ? BYRE_USER_STATUS + 7 : BYRE_OK;
}

TEST(CTilesTest, parts_of_a_range_are_visited_in_order) {
  CTiles tiles;
  fill(tiles, "0123456789");
  std::vector<std::string> parts;
  EXPECT_TRUE(ok(byre_tiles_for_each_part(tiles, 1, 5, &append_part, &parts)));
  EXPECT_EQ(parts, (std::vector<std::string>{"123", "45"}));
  parts.clear();
  EXPECT_TRUE(fails(byre_tiles_for_each_part(tiles, 0, 10, &append_part, &parts),
                    BYRE_USER_STATUS + 7, "the visitor", "byre_tiles_for_each_part", "1007"));
  EXPECT_EQ(parts.size(), 3U);
  EXPECT_TRUE(fails(byre_tiles_for_each_part(tiles, 0, 11, &append_part, &parts),
                    BYRE_INVALID_ARGUMENT, "out of range"));
}

byre_status append_index(void* user, std::size_t index) {
  static_cast<std::vector<std::size_t>*>(user)->push_back(index);
  return index == 2 ? 77 : BYRE_OK;  // not a status of byre: becomes BYRE_FAILED
}

TEST(CTilesTest, differences_are_the_tiles_that_are_not_shared) {
  CTiles tiles, clone, other;
  fill(tiles, "0123456789");
  ASSERT_TRUE(ok(byre_tiles_clone(tiles, clone)));
  ASSERT_TRUE(ok(byre_tiles_write(clone, 5, "x", 1, BYRE_WAIT_ALLOWED)));
  std::vector<std::size_t> indices;
  EXPECT_TRUE(ok(byre_tiles_for_each_difference(tiles, clone, &append_index, &indices)));
  EXPECT_EQ(indices, std::vector<std::size_t>{1});
  EXPECT_TRUE(fails(byre_tiles_for_each_difference(tiles, other, &append_index, &indices),
                    BYRE_INVALID_ARGUMENT, "4 and 65536 bytes"));
  ASSERT_TRUE(ok(byre_tiles_write(clone, 9, "x", 1, BYRE_WAIT_ALLOWED)));
  EXPECT_TRUE(fails(byre_tiles_for_each_difference(tiles, clone, &append_index, &indices),
                    BYRE_FAILED, "status 77 (unknown status)"));
}

TEST(CTilesTest, visitor_ends_the_iteration_by_its_status) {
  CTiles tiles;
  fill(tiles, "0123456789");
  struct Visits {
    byre_status status;
    int count;
  };
  const auto visit = [](void* user, const void*, std::size_t) {
    auto& visits = *static_cast<Visits*>(user);
    ++visits.count;
    return visits.status;
  };
  for (const auto& [status, result] : {std::pair{BYRE_STOP, BYRE_OK},
                                       {BYRE_OUT_OF_MEMORY, BYRE_OUT_OF_MEMORY},
                                       {BYRE_NOT_UNIQUE, BYRE_FAILED}}) {
    Visits visits{status, 0};
    EXPECT_EQ(byre_tiles_for_each_part(tiles, 0, 10, visit, &visits), result);
    EXPECT_EQ(visits.count, 1);
  }
}

}  // namespace
}  // namespace byre::test
