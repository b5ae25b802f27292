// SPDX-License-Identifier: BSL-1.0
/// Files of pages and overlays at the limit of a budget.
#include <byre/memory/budget.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "pages/paged_buffers.hpp"
#include "support/features.hpp"

namespace byre::test {
namespace {

TEST(BudgetedPages, a_file_and_its_overlays_count) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library has no memory files";
  }
  Budget budget(3 * paged_nbytes);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer buffer = Buffer::allocate(paged_nbytes, allocator);
  EXPECT_EQ(buffer.origin(), Origin::paged);
  EXPECT_EQ(budget.used(), buffer.capacity());
  {
    Buffer clone = buffer;
    EXPECT_EQ(clone.materialize(), Materialized::overlaid);
    EXPECT_EQ(budget.used(), 2 * buffer.capacity());
    Buffer second = clone;
    EXPECT_EQ(second.materialize(), Materialized::overlaid);
    EXPECT_EQ(budget.used(), 3 * buffer.capacity());
    Buffer third = clone;
    EXPECT_THROW(third.mutable_data(), BudgetExceeded);
    EXPECT_EQ(clone.use_count(), 2U);
  }
  EXPECT_EQ(budget.used(), buffer.capacity());
  buffer = Buffer();
  EXPECT_EQ(budget.used(), 0U);
  const Buffer small = Buffer::allocate(100, allocator);  // not in pages
  EXPECT_EQ(small.origin(), Origin::allocated);
  EXPECT_GE(budget.used(), small.capacity());
}

TEST(BudgetedPages, an_allocation_asks) {
  Budget budget(paged_nbytes + 1);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer cached = Buffer::allocate(paged_nbytes, allocator);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, nullptr);
    cached = Buffer();
    return pressure.nbytes;
  });
  const Buffer buffer = Buffer::allocate(paged_nbytes, allocator);
  EXPECT_EQ(cached.nbytes(), 0U);
  EXPECT_EQ(budget.used(), buffer.capacity());
}

TEST(BudgetedPages, a_write_steals_pages_whose_other_owner_a_reclaimer_drops) {
  Budget budget(paged_nbytes + 1);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer buffer = filled(std::byte{1}, paged_nbytes, allocator);
  Buffer clone = buffer;
  EXPECT_THROW(buffer.mutable_range(0, 1), BudgetExceeded);
  EXPECT_EQ(buffer.use_count(), 2U);
  const void* const data = std::as_const(buffer).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, data);
    clone = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(buffer.materialize(), Materialized::stole);
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_EQ(budget.used(), buffer.capacity());
}

TEST(BudgetedPages, a_writable_clone_that_may_not_be_lazy_is_a_copy) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library has no memory files";
  }
  Budget budget(2 * paged_nbytes + paged_nbytes / 2);  // room for a copy, but not for two overlays
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer buffer = filled(std::byte{1}, paged_nbytes, allocator);
  const Buffer clone = buffer.writable_clone();
  EXPECT_EQ(clone.origin(), Origin::paged);
  EXPECT_EQ(budget.used(), 2 * buffer.capacity());
}

TEST(BudgetedPages, the_new_file_of_a_writable_clone_counts) {
  if (!has_written_back_pages()) {
    GTEST_SKIP() << "the library writes no pages back";
  }
  Budget budget(8 * paged_nbytes);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer source = filled(std::byte{1}, paged_nbytes, allocator);
  const Buffer clone = source.writable_clone();
  EXPECT_EQ(budget.used(), 3 * source.capacity());  // a file and two overlays
  std::memset(source.mutable_data(), 2, paged_nbytes);
  const Buffer second = source.writable_clone();  // moves source and clone to a new file
  EXPECT_EQ(budget.used(), 5 * source.capacity());
}

TEST(BudgetedPages, all_pages_count_if_the_size_is_smaller) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library has no memory files";
  }
  Budget budget(4 * paged_nbytes);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer buffer = Buffer::allocate(paged_nbytes - 1, allocator);
  EXPECT_EQ(budget.used(), buffer.capacity());
  buffer.resize(1);
  Buffer clone = buffer;
  clone.mutable_data();
  EXPECT_EQ(budget.used(), 2 * buffer.capacity());
}

TEST(BudgetedPages, a_copy_into_pages_asks_with_its_data) {
  Budget budget(paged_nbytes);
  BudgetedAllocator allocator(paged_allocator(), budget);
  const std::vector<std::byte> bytes(paged_nbytes);
  Buffer cached = Buffer::allocate(paged_nbytes, allocator);
  Buffer read_only = Buffer::adopt_read_only(
      bytes.data(), paged_nbytes, [](void*) {}, allocator);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, bytes.data());
    cached = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(read_only.materialize(), Materialized::copied);
}

TEST(BudgetedPages, a_refused_writable_clone_changes_nothing) {
  Budget budget(paged_nbytes + 1);
  BudgetedAllocator allocator(paged_allocator(), budget);
  Buffer buffer = filled(std::byte{1}, paged_nbytes, allocator);
  const std::byte* const before = buffer.data();
  EXPECT_THROW(buffer.writable_clone(), BudgetExceeded);
  EXPECT_EQ(buffer.data(), before);
  EXPECT_TRUE(buffer.is_unique());
  EXPECT_EQ(budget.used(), buffer.capacity());
  budget.set_limit(3 * paged_nbytes);
  {
    Buffer clone = buffer.writable_clone();
    clone.mutable_data()[0] = std::byte{2};
    EXPECT_TRUE(is_all(buffer, std::byte{1}));
    EXPECT_LE(budget.used(), budget.limit());
    EXPECT_GE(budget.used(), 2 * paged_nbytes);
  }
  buffer = Buffer();
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace byre::test
