// SPDX-License-Identifier: BSL-1.0
// How many allocations buffers and storages make, and that each that fails leaves nothing over. Writes, clones and
// resizes without memory: rows_of_core.cpp of tests/unit/failures, and stress/programs.
#include <byre/error/error.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/failing_new.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

/// Runs `step` with its first, second, ... heap allocation failing until none fails any more.
/// Each failure must be an Error and leave nothing over. Returns how many there were.
int fail_each_new(const std::function<void()>& step) {
  // A thread's counters take what they need of the heap when it first counts, and do without it if
  // they must: the_first_use_needs_no_heap is about that.
  (void)Buffer::allocate(1);
  for (int nth = 0;; ++nth) {
    const std::ptrdiff_t alive_before = news_alive;
    bool threw = false;
    try {
      const FailingNew failing(nth);
      step();
    } catch (const Error& error) {
      threw = true;
      EXPECT_TRUE(says(error.what(), "out of memory"));
    }
    EXPECT_EQ(threw, new_failed);
    EXPECT_EQ(news_alive, alive_before) << "left over where allocation " << nth << " failed";
    if (!new_failed) {
      return nth;
    }
  }
}

TEST(FailureInjection, each_allocation_of_a_new_storage_fails_cleanly) {
  char memory[] = "cow";
  int adopted = 0;
  int deleted = 0;
  const Storage storage = of_text<Storage>("cow");
  // The identity; the data is malloc's. Foreign memory has a header, too.
  EXPECT_EQ(fail_each_new([] { Storage::allocate(64); }), 1);
  EXPECT_EQ(fail_each_new([&] { (void)storage.lazy_clone(); }), 1);
  EXPECT_EQ(fail_each_new([&] { Storage(Buffer::borrow(memory, 3)); }), 2);
  EXPECT_EQ(fail_each_new([&] {
              ++adopted;
              Storage(Buffer::adopt(memory, 3, [&deleted](void*) { ++deleted; }));
            }),
            2);
  EXPECT_EQ(adopted, 3);
  EXPECT_EQ(deleted, 3);
  EXPECT_EQ(storage.use_count(), 1U);
}

TEST(FailureInjection, device_memory_fails_cleanly_at_every_allocation) {
  FailingAllocator allocator(Device(1, 0));
  EXPECT_GT(fail_each_new([&] { Buffer::allocate(64, allocator); }), 0);
  EXPECT_EQ(allocator.blocks_out(), 0U);
  const std::ptrdiff_t alive_before = news_alive;
  allocator.fail_allocation(0);
  EXPECT_THROW(Buffer::allocate(64, allocator), OutOfMemory);
  EXPECT_EQ(news_alive, alive_before);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(FailureInjection, a_heap_that_uses_byre_leaves_a_thread_one_cache) {
  static detail::ThreadCache* made_by_the_heap = nullptr;
  elsewhere([] {
    before_next_new = [] {
      (void)Buffer::allocate(1);
      made_by_the_heap = detail::this_threads_cache;
    };
    (void)Buffer::allocate(1);
    EXPECT_EQ(detail::this_threads_cache, made_by_the_heap);
  });
}

TEST(FailureInjection, a_failure_is_reported_without_memory) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  const Storage clone = storage.lazy_clone();
  allocator.fail_allocation(0);
  news_until_failure = 0;
  new_failed = false;
  EXPECT_THROW(storage.mutable_data(), OutOfMemory);
  news_until_failure = never_fails;
  EXPECT_FALSE(new_failed);  // nobody asked
  EXPECT_EQ(text_of(storage), "cow");
}

}  // namespace
}  // namespace byre::test
