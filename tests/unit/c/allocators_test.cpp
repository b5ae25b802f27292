// SPDX-License-Identifier: BSL-1.0
// Allocators of the C interface.
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "counting_allocator.hpp"

namespace byre::test {
namespace {

byre_status writes_a_clone(const byre_buffer* buffer) {
  CBuffer clone;
  EXPECT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  const byre_status status = write(clone, "m");
  EXPECT_EQ(text_of(clone), status == BYRE_OK ? "mows" : "cows");
  EXPECT_EQ(byre_buffer_shares_data_with(buffer, clone), status != BYRE_OK);
  return status;
}

TEST(CAllocators, table_provides_the_memory_of_buffers_and_copies) {
  Counting counting;
  CAllocator allocator;
  {
    auto table = counting.functions();
    char name[] = "counting allocator";
    table.name = name;
    ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
    name[0] = 'x';
    table.allocate = nullptr;  // byre has a copy of table and name
  }
  EXPECT_STREQ(byre_allocator_name(allocator), "counting allocator");
  EXPECT_EQ(byre_allocator_device_kind(allocator), 0);
  CBuffer buffer;
  allocate(buffer, "cows", allocator);
  EXPECT_EQ(byre_buffer_allocator(buffer), static_cast<byre_allocator*>(allocator));
  EXPECT_EQ(counting.allocated, 1);
  EXPECT_TRUE(ok(writes_a_clone(buffer)));
  EXPECT_EQ(counting.allocated, 2);
  EXPECT_EQ(counting.deallocated, 1);
  byre_buffer_release(buffer);
  EXPECT_EQ(counting.deallocated, 2);
}

TEST(CAllocators, optional_functions_make_the_copies) {
  Counting counting;
  auto table = counting.functions();
  table.copy = &copy;
  CAllocator allocator, copying;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  CBuffer buffer;
  allocate(buffer, "cows", allocator);
  EXPECT_TRUE(ok(writes_a_clone(buffer)));
  EXPECT_EQ(counting.copied, 1);
  byre_buffer_release(buffer);
  table.allocate_copy = &allocate_copy;
  ASSERT_TRUE(ok(byre_allocator_create(&table, copying.result())));
  allocate(buffer, "cows", copying);
  EXPECT_TRUE(ok(writes_a_clone(buffer)));
  EXPECT_EQ(counting.allocated_copies, 1);
  EXPECT_EQ(counting.copied, 1);
  byre_buffer_release(buffer);
  EXPECT_EQ(counting.allocated, counting.deallocated);
}

TEST(CAllocators, status_of_a_table_reaches_the_caller) {
  Copying copying;
  Counting& counting = copying.counting;
  CAllocator& allocator = copying.allocator;
  CBuffer buffer;
  allocate(buffer, "cows", allocator);
  const auto fail_with = [&](byre_status status) {
    counting.allocate_status = status;
    const byre_status seen = writes_a_clone(buffer);
    counting.allocate_status = BYRE_OK;
    counting.copy_status = status;
    EXPECT_EQ(writes_a_clone(buffer), seen) << "a failed copy";
    counting.copy_status = BYRE_OK;
    return seen;
  };
  EXPECT_TRUE(fails(fail_with(BYRE_OUT_OF_MEMORY), BYRE_OUT_OF_MEMORY, "4 bytes", "counting"));
  EXPECT_TRUE(fails(fail_with(BYRE_USER_STATUS), BYRE_USER_STATUS, "copy of counting allocator",
                    "status 1000", "status of a callback"));
  EXPECT_TRUE(fails(fail_with(INT32_MAX), INT32_MAX, "2147483647"));
  EXPECT_TRUE(fails(fail_with(BYRE_FILE_ERROR), BYRE_FAILED, "status 4 (file error)"));
  EXPECT_TRUE(fails(fail_with(BYRE_USER_STATUS - 1), BYRE_FAILED, "999"));
  EXPECT_TRUE(fails(fail_with(-1), BYRE_FAILED, "-1"));
  byre_buffer_release(buffer);
  EXPECT_EQ(counting.allocated, counting.deallocated);
}

TEST(CAllocators, blocks_that_do_not_fit_are_refused) {
  Counting counting;
  auto table = counting.functions();
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  CBuffer buffer;
  counting.is_null = true;
  EXPECT_TRUE(fails(byre_buffer_allocate(4, allocator, buffer), BYRE_OUT_OF_MEMORY, "counting"));
  counting.is_null = false;
  counting.is_misaligned = true;
  EXPECT_TRUE(fails(byre_buffer_allocate(4, allocator, buffer), BYRE_INVALID_ARGUMENT, "counting",
                    "aligned to 64"));
  counting.is_misaligned = false;
  counting.is_small = true;
  EXPECT_TRUE(fails(byre_buffer_allocate(4, allocator, buffer), BYRE_INVALID_ARGUMENT,
                    "returned 3 bytes", "at least 4"));
  EXPECT_EQ(counting.allocated, 2);
  EXPECT_EQ(counting.deallocated, 2);
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
}

TEST(CAllocators, table_that_is_invalid_is_refused) {
  Counting counting;
  CAllocator allocator;
  const auto refused = [&](auto change, const char* said) {
    auto table = counting.functions();
    change(table);
    return fails(byre_allocator_create(&table, allocator.result()), BYRE_INVALID_ARGUMENT, said);
  };
  using Table = byre_allocator_functions;
  EXPECT_TRUE(refused([](Table& t) { t.struct_nbytes = 8; }, "struct_nbytes is 8"));
  EXPECT_TRUE(refused(
      [](Table& t) { t.struct_nbytes = offsetof(Table, submit_copy) + sizeof t.submit_copy - 1; },
      "struct_nbytes"));
  EXPECT_TRUE(refused([](Table& t) { t.allocate = nullptr; }, "Set allocate and deallocate"));
  EXPECT_TRUE(refused([](Table& t) { t.deallocate = nullptr; }, "Set allocate and deallocate"));
  EXPECT_TRUE(refused([](Table& t) { t.device_index = 1; }, "device_index of the host is 1"));
  EXPECT_TRUE(refused([](Table& t) { t.copies_end = BYRE_COPIES_END_LATER; },
                      "copies_end of memory of the host is 1"));
  EXPECT_TRUE(refused([](Table& t) { t.device_kind = 1, t.copies_end = 3; },
                      "byre_copies_end is 3, allowed are 0 to 2"));
  const auto table = counting.functions();
  EXPECT_TRUE(fails(byre_allocator_create(nullptr, allocator.result()), BYRE_INVALID_ARGUMENT,
                    "`functions` is NULL"));
  EXPECT_TRUE(
      fails(byre_allocator_create(&table, nullptr), BYRE_INVALID_ARGUMENT, "`result` is NULL"));
  EXPECT_EQ(static_cast<byre_allocator*>(allocator), nullptr);
}

TEST(CAllocators, larger_table_of_a_later_version_is_accepted) {
  Counting counting;
  struct {
    byre_allocator_functions known;
    void* unknown;
  } later{counting.functions(), nullptr};
  later.known.struct_nbytes = sizeof later;
  later.known.name = nullptr;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&later.known, allocator.result())));
  EXPECT_STREQ(byre_allocator_name(allocator), "unnamed allocator");
}

TEST(CAllocators, memory_of_any_allocator_is_available) {
  for (byre_allocator* allocator :
       {byre_aligned_allocator(), byre_default_allocator(), byre_paged_allocator(),
        static_cast<byre_allocator*>(nullptr)}) {
    byre_block block{};
    ASSERT_TRUE(ok(byre_allocator_allocate(allocator, 4, 64, &block)));
    EXPECT_GE(block.capacity, 4U);
    std::memset(static_cast<char*>(block.data) - 64, 1, 64 + 4);
    EXPECT_TRUE(ok(byre_allocator_copy(allocator, block.data, "cow", 4)));
    EXPECT_STREQ(static_cast<char*>(block.data), "cow");
    byre_allocator_deallocate(allocator, &block);
    byre_allocator_deallocate(allocator, nullptr);
  }
  byre_block block{};
  EXPECT_TRUE(fails(byre_allocator_allocate(nullptr, 4, 63, &block), BYRE_INVALID_ARGUMENT,
                    "prefix is 63"));
  ASSERT_TRUE(ok(byre_allocator_allocate(nullptr, 4, 1024, &block)));
  byre_allocator_deallocate(nullptr, &block);
  block = byre_block{};
  EXPECT_TRUE(fails(byre_allocator_allocate(nullptr, 4, 1088, &block), BYRE_INVALID_ARGUMENT,
                    "prefix is 1088"));
  EXPECT_TRUE(fails(byre_allocator_allocate(nullptr, SIZE_MAX, 0, &block), BYRE_INVALID_ARGUMENT,
                    "size out of range"));
  EXPECT_TRUE(fails(byre_allocator_allocate(nullptr, 4, 0, nullptr), BYRE_INVALID_ARGUMENT,
                    "`result` is NULL"));
  EXPECT_EQ(block.data, nullptr);
  EXPECT_STREQ(byre_allocator_name(nullptr), byre_allocator_name(byre_default_allocator()));
  EXPECT_STRNE(byre_allocator_name(byre_paged_allocator()),
               byre_allocator_name(byre_aligned_allocator()));
}

TEST(CAllocators, device_table_provides_no_memory_for_no_bytes) {
  Counting counting;
  auto table = counting.functions();
  table.device_kind = 1;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  counting.is_null = true;
  CBuffer buffer;
  EXPECT_TRUE(ok(byre_buffer_allocate(0, allocator, buffer)));
  EXPECT_EQ(byre_buffer_nbytes(buffer), 0U);
  EXPECT_TRUE(fails(byre_buffer_allocate(1, allocator, buffer), BYRE_OUT_OF_MEMORY));
  byre_buffer_release(buffer);
}

TEST(CAllocators, failed_copy_of_a_tile_leaves_earlier_tiles_written) {
  Copying copying;
  Counting& counting = copying.counting;
  CAllocator& allocator = copying.allocator;
  CTiles tiles;
  char bytes[] = "01234567";
  ASSERT_TRUE(ok(byre_tiles_allocate(8, 4, allocator, tiles)));
  ASSERT_TRUE(ok(byre_tiles_write(tiles, 0, bytes, 8, BYRE_WAIT_ALLOWED)));
  counting.failing_copy = counting.copied + 2;
  EXPECT_EQ(byre_tiles_write(tiles, 0, "abcdefgh", 8, BYRE_WAIT_ALLOWED), BYRE_USER_STATUS);
  ASSERT_TRUE(ok(byre_tiles_read(tiles, 0, bytes, 8)));
  EXPECT_STREQ(bytes, "abcd4567");
  byre_tiles_release(tiles);
}

TEST(CAllocators, copy_of_a_table_fails_with_its_status) {
  Copying copying;
  Counting& counting = copying.counting;
  CAllocator& allocator = copying.allocator;
  counting.copy_status = BYRE_USER_STATUS + 3;
  char to[4];
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, to, "cow", 4), BYRE_USER_STATUS + 3, "copy of"));
  counting.copy_status = BYRE_OK;
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, nullptr, "cow", 4), BYRE_INVALID_ARGUMENT,
                    "byre_allocator_copy", "null pointer to 4 bytes"));
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, to, nullptr, 4), BYRE_INVALID_ARGUMENT, "null"));
  const int copied = counting.copied;
  EXPECT_TRUE(ok(byre_allocator_copy(allocator, nullptr, nullptr, 0)));
  EXPECT_EQ(counting.copied, copied) << "a table copies no empty ranges";
}

}  // namespace
}  // namespace byre::test
