// SPDX-License-Identifier: BSL-1.0
// Failed allocations of device memory, and error reports that need no heap. For all other
// functions, tests/unit/failures/storage_cases.cpp and stress/programs make every allocation fail
// and look for leaks.
#include <byre/error/error.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/failing_new.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

TEST(FailureInjection, a_failed_device_allocation_leaks_nothing) {
  FailingAllocator allocator(Device(1, 0));
  bool is_over = false;
  for (int nth = -1; !is_over; ++nth) {  // -1: the device's memory fails; else operator new
    const std::ptrdiff_t alive_before = live_new_count;
    allocator.fail_allocation(nth == -1 ? 0 : FailingAllocator::never);
    bool has_failed = false;
    try {
      const FailingNew failing(nth == -1 ? never_fails : nth);
      Buffer::allocate(64, allocator);
    } catch (const OutOfMemory&) {
      has_failed = true;
    }
    EXPECT_EQ(has_failed, nth == -1 || new_failed);
    is_over = !has_failed;
    EXPECT_EQ(live_new_count, alive_before) << "leaked after allocation " << nth << " failed";
    EXPECT_EQ(allocator.blocks_out(), 0U);
  }
}

TEST(FailureInjection, an_operator_new_that_calls_byre_creates_one_thread_cache) {
  static detail::ThreadCache* made_by_the_heap = nullptr;
  on_another_thread([] {
    before_next_new = [] {
      (void)Buffer::allocate(1);
      made_by_the_heap = detail::this_threads_cache();
    };
    (void)Buffer::allocate(1);
    EXPECT_EQ(detail::this_threads_cache(), made_by_the_heap);
  });
}

TEST(FailureInjection, reporting_a_failed_allocation_needs_no_heap) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  const Storage clone = storage.lazy_clone();
  allocator.fail_allocation(0);
  news_before_failure = 0;
  new_failed = false;
  EXPECT_THROW(storage.mutable_data(), OutOfMemory);
  news_before_failure = never_fails;
  EXPECT_FALSE(new_failed);  // operator new was not called
  EXPECT_EQ(text_of(storage), "cow");
}

}  // namespace
}  // namespace byre::test
