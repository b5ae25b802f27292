// SPDX-License-Identifier: BSL-1.0
// Allocators and pools of the C interface.
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "support/caught_warnings.hpp"
#include "values.hpp"

namespace byre::test {
namespace {

/// An allocator of a program in C: counts its calls, and fails on request.
struct Counting {
  int allocated = 0, deallocated = 0, copied = 0, allocated_copies = 0, submitted = 0;
  byre_status allocate_status = BYRE_OK, copy_status = BYRE_OK;
  bool is_null = false, is_misaligned = false, is_small = false, takes_pending = true;
  bool takes_before_it_fails = false;
  int failing_copy = 0;            // the number of the copy that fails
  byre_pending_copy pending[2]{};  // of the first copies

  byre_allocator_functions functions() {
    byre_allocator_functions table{};
    table.struct_nbytes = sizeof table;
    table.user = this;
    table.name = "counting allocator";
    table.allocate = [](void* user, std::size_t nbytes, std::size_t prefix, byre_block* block) {
      return of(user).allocate(nbytes, prefix, block);
    };
    table.deallocate = [](void* user, const byre_block* block) {
      ++of(user).deallocated;
      std::free(block->base);
    };
    return table;
  }
  static Counting& of(void* user) { return *static_cast<Counting*>(user); }

  byre_status allocate(std::size_t nbytes, std::size_t prefix, byre_block* block) {
    if (allocate_status != BYRE_OK || is_null) {
      return allocate_status;
    }
    ++allocated;
    auto* const base = static_cast<char*>(std::malloc(prefix + nbytes + 128));
    const auto address = reinterpret_cast<std::uintptr_t>(base) + prefix;
    block->base = base;
    block->data = base + prefix + (64 - address % 64) + (is_misaligned ? 8 : 0);
    block->capacity = is_small ? nbytes - 1 : nbytes;
    return BYRE_OK;
  }
};

byre_status copy(void* user, void* destination, const void* source, std::size_t nbytes) {
  auto& counting = Counting::of(user);
  ++counting.copied;
  if (counting.copied == counting.failing_copy) {
    return BYRE_USER_STATUS;
  }
  if (counting.copy_status == BYRE_OK) {
    std::memcpy(destination, source, nbytes);
  }
  return counting.copy_status;
}

byre_status allocate_copy(void* user, std::size_t nbytes, std::size_t prefix, const void* source,
                          std::size_t copied_nbytes, byre_block* block) {
  auto& counting = Counting::of(user);
  ++counting.allocated_copies;
  const byre_status status = counting.allocate(nbytes, prefix, block);
  if (status == BYRE_OK && block->data != nullptr) {
    std::memcpy(block->data, source, copied_nbytes);
  }
  return status;
}

byre_status submit_copy(void* user, std::size_t nbytes, std::size_t prefix, const void* source,
                        std::size_t copied_nbytes, byre_block* block, byre_pending_copy* pending) {
  auto& counting = Counting::of(user);
  ++counting.submitted;
  const byre_status status = allocate_copy(user, nbytes, prefix, source, copied_nbytes, block);
  if (counting.takes_pending && (status == BYRE_OK || counting.takes_before_it_fails)) {
    byre_pending_copy_take(pending, &counting.pending[counting.submitted - 1]);
  }
  return status;
}

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
  Counting counting;
  auto table = counting.functions();
  table.copy = &copy;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
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

/// The memory of a device for which copies are submitted.
struct Submitting {
  Submitting() {
    auto table = counting.functions();
    table.device_kind = 3;
    table.device_index = 2;
    table.copies_end = BYRE_COPIES_END_LATER;
    table.submit_copy = &submit_copy;
    EXPECT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
    EXPECT_TRUE(ok(byre_buffer_allocate(4, allocator, source)));
  }
  Counting counting;
  CAllocator allocator;
  CBuffer source;
};

TEST(CAllocators, submitted_copy_keeps_its_source_until_it_ends) {
  Submitting device;
  EXPECT_EQ(byre_allocator_device_kind(device.allocator), 3);
  EXPECT_EQ(byre_allocator_device_index(device.allocator), 2);
  {
    CBuffer clone;
    ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
    EXPECT_EQ(device.counting.submitted, 1);
  }
  EXPECT_EQ(byre_buffer_is_unique(device.source), 0) << "a copy is pending";
  byre_materialized how = -1;
  ASSERT_TRUE(ok(byre_buffer_materialize(device.source, BYRE_WAIT_NEVER, &how)));
  EXPECT_EQ(how, BYRE_COPIED) << "the last owner must not wait";
  EXPECT_EQ(device.counting.submitted, 2);
  const int before = device.counting.deallocated;
  byre_pending_copy_end(&device.counting.pending[0]);
  byre_pending_copy_end(&device.counting.pending[0]);
  byre_pending_copy_end(nullptr);
  byre_pending_copy_take(nullptr, &device.counting.pending[0]);
  byre_pending_copy_take(&device.counting.pending[1], nullptr);
  EXPECT_EQ(device.counting.deallocated, before) << "the second copy is pending";
  byre_pending_copy_end(&device.counting.pending[1]);
  EXPECT_EQ(device.counting.deallocated, before + 1);
}

TEST(CAllocators, submitted_copy_that_is_not_taken_is_complete) {
  Submitting device;
  device.counting.takes_pending = false;
  CBuffer clone;
  ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
  ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  EXPECT_EQ(byre_buffer_is_unique(device.source), 1);
  ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
  device.counting.allocate_status = BYRE_USER_STATUS + 1;
  EXPECT_TRUE(fails(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr),
                    BYRE_USER_STATUS + 1, "submit_copy of counting allocator"));
  EXPECT_EQ(byre_buffer_shares_data_with(device.source, clone), 1);
}

TEST(CAllocators, blocks_of_copies_that_do_not_fit_are_refused) {
  const auto copied_into = [](auto change, bool is_submitted) {
    Submitting device;
    CAllocator allocating;
    if (!is_submitted) {
      auto table = device.counting.functions();
      table.allocate_copy = &allocate_copy;
      EXPECT_TRUE(ok(byre_allocator_create(&table, allocating.result())));
      EXPECT_TRUE(ok(byre_buffer_allocate(4, allocating, device.source)));
    }
    CBuffer clone;
    EXPECT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    device.counting.takes_pending = false;
    change(device.counting);
    const byre_status status = byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr);
    EXPECT_EQ(byre_buffer_shares_data_with(device.source, clone), 1);
    byre_buffer_release(clone);
    EXPECT_EQ(byre_buffer_is_unique(device.source), 1) << "no copy is pending";
    byre_buffer_release(device.source);
    EXPECT_EQ(device.counting.allocated, device.counting.deallocated);
    return status;
  };
  for (const bool is_submitted : {true, false}) {
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_null = true; }, is_submitted),
                      BYRE_OUT_OF_MEMORY, "4 bytes", "counting"));
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_misaligned = true; }, is_submitted),
                      BYRE_INVALID_ARGUMENT, "counting", "aligned to 64"));
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_small = true; }, is_submitted),
                      BYRE_INVALID_ARGUMENT, "returned 3 bytes", "at least 4"));
  }
}

TEST(CAllocatorsDeathTest, submission_that_fails_with_its_handle_ends_the_program) {
  const auto submit_with = [](auto change) {
    Submitting device;
    CBuffer clone;
    EXPECT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    device.counting.takes_before_it_fails = true;
    change(device.counting);
    (void)byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr);
  };
  EXPECT_DEATH(
      submit_with([](Counting& c) { c.allocate_status = BYRE_USER_STATUS; }),
      "took the handle of a copy, then failed: submit_copy of counting.*status 1000.*Take");
  EXPECT_DEATH(submit_with([](Counting& c) { c.allocate_status = BYRE_OUT_OF_MEMORY; }),
               "took the handle.*out of memory");
  EXPECT_DEATH(submit_with([](Counting& c) { c.is_null = true; }),
               "took the handle.*out of memory");
  EXPECT_DEATH(submit_with([](Counting& c) { c.is_small = true; }), "took the handle.*at least 4");
}

TEST(CAllocators, submission_without_its_function_copies_at_once) {
  Counting counting;
  auto table = counting.functions();
  table.device_kind = 1;
  table.copies_end = BYRE_COPIES_END_IN_ORDER;
  table.copy = &copy;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  CBuffer source, clone;
  ASSERT_TRUE(ok(byre_buffer_allocate(4, allocator, source)));
  ASSERT_TRUE(ok(byre_buffer_clone(source, clone)));
  ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  EXPECT_EQ(counting.copied, 1);
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
  Counting counting;
  auto table = counting.functions();
  table.copy = &copy;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
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
  Counting counting;
  auto table = counting.functions();
  table.copy = &copy;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  counting.copy_status = BYRE_USER_STATUS + 3;
  char to[4];
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, to, "cow", 4), BYRE_USER_STATUS + 3, "copy of"));
  counting.copy_status = BYRE_OK;
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, nullptr, "cow", 4), BYRE_INVALID_ARGUMENT,
                    "byre_allocator_copy", "null pointer to 4 bytes"));
  EXPECT_TRUE(fails(byre_allocator_copy(allocator, to, nullptr, 4), BYRE_INVALID_ARGUMENT, "null"));
  EXPECT_TRUE(ok(byre_allocator_copy(allocator, nullptr, nullptr, 0)));
}

TEST(CPools, pool_keeps_released_blocks_up_to_its_limit) {
  constexpr std::size_t nbytes = 1 << 20;
  CPool pool;
  ASSERT_TRUE(ok(byre_pool_create(2 * nbytes, pool.result())));
  EXPECT_EQ(byre_pool_limit_nbytes(pool), 2 * nbytes);
  CBuffer buffer;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
  byre_buffer_release(buffer);
  EXPECT_GE(byre_pool_idle_nbytes(pool), nbytes);
  CBuffer other;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes / 2, byre_pool_allocator(pool), other)));
  byre_buffer_release(buffer);
  byre_buffer_release(other);
  const std::size_t both = byre_pool_idle_nbytes(pool);
  byre_pool_trim(pool, both - 1);
  EXPECT_LT(byre_pool_idle_nbytes(pool), both);
  EXPECT_GT(byre_pool_idle_nbytes(pool), 0U) << "one block suffices";
  byre_pool_trim(pool, 0);
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
  byre_pool_set_limit_nbytes(pool, 0);
  EXPECT_EQ(byre_pool_limit_nbytes(pool), 0U);
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_pool_allocator(pool), buffer)));
  byre_buffer_release(buffer);
  EXPECT_EQ(byre_pool_idle_nbytes(pool), 0U);
}

TEST(CPools, default_pool_is_the_default_allocator) {
  EXPECT_EQ(byre_pool_allocator(byre_default_pool()), byre_default_allocator());
  EXPECT_EQ(byre_pool_limit_nbytes(byre_default_pool()), byre_pool_default_limit_nbytes());
  EXPECT_GT(byre_usable_memory_nbytes(), 0U);
  EXPECT_LE(byre_pool_default_limit_nbytes(), byre_usable_memory_nbytes() / 8);
}

TEST(CPools, null_is_no_pool) {
  EXPECT_EQ(byre_pool_allocator(nullptr), nullptr);
  EXPECT_EQ(byre_pool_limit_nbytes(nullptr), 0U);
  EXPECT_EQ(byre_pool_idle_nbytes(nullptr), 0U);
  byre_pool_set_limit_nbytes(nullptr, 1);
  byre_pool_trim(nullptr, 0);
  byre_pool_destroy(nullptr);
  EXPECT_TRUE(fails(byre_pool_create(1, nullptr), BYRE_INVALID_ARGUMENT, "`result` is NULL"));
}

}  // namespace
}  // namespace byre::test
