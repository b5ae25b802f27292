// SPDX-License-Identifier: BSL-1.0
// Every allocation that Buffer and Storage make is made to fail, one after another, and every copy:
// whatever was there before must be there after, and nothing may be left over.
#include <byre/error/error.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

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

Storage of_text(const std::string& text, Allocator& allocator) {
  Storage storage = Storage::allocate(text.size(), allocator);
  std::memcpy(storage.mutable_data(), text.data(), text.size());
  return storage;
}

TEST(FailureInjection, making_a_storage_fails_cleanly_at_every_allocation) {
  FailingAllocator allocator;
  EXPECT_EQ(fail_each_new([&] { Storage::allocate(64); }),
            1);  // the identity; the data is malloc's
  allocator.fail_allocation(0);
  EXPECT_THROW(Storage::allocate(64, allocator), OutOfMemory);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(FailureInjection, an_identity_that_cannot_be_made_leaves_the_buffer_its_bytes) {
  FailingAllocator allocator;
  Buffer buffer = Buffer::allocate(64, allocator);
  news_until_failure = 0;
  EXPECT_THROW(Storage(std::move(buffer)), OutOfMemory);
  news_until_failure = never_fails;
  EXPECT_EQ(buffer.nbytes(), 64U);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(Storage(buffer).nbytes(), 64U);
  EXPECT_TRUE(buffer.is_unique());
}

TEST(FailureInjection, lazily_cloning_a_storage_fails_cleanly_at_every_allocation) {
  FailingAllocator allocator;
  const Storage storage = of_text("cow", allocator);
  EXPECT_EQ(fail_each_new([&] {
              const Storage clone = storage.lazy_clone();
              EXPECT_EQ(storage.use_count(), 2U);
            }),
            1);
  EXPECT_EQ(storage.use_count(), 1U);
  EXPECT_EQ(text_of(storage), "cow");
}

TEST(FailureInjection, adopting_calls_the_deleter_once_at_every_failure) {
  char memory[] = "cow";
  int adopted = 0;
  int deleted = 0;
  EXPECT_EQ(fail_each_new([&] {
              ++adopted;
              Storage(Buffer::adopt(memory, 3, [&deleted](void*) { ++deleted; }));
            }),
            2);  // the header and the identity
  EXPECT_EQ(adopted, 3);
  EXPECT_EQ(deleted, 3);
}

TEST(FailureInjection, borrowing_fails_cleanly_at_every_allocation) {
  char memory[] = "cow";
  EXPECT_EQ(fail_each_new([&] { Storage(Buffer::borrow(memory, 3)); }), 2);
}

TEST(FailureInjection, mapping_a_file_fails_cleanly_at_every_allocation) {
  int mappings = 0;
  EXPECT_GE(fail_each_new([&] {
              const std::filesystem::path path = [] {
                const int armed = std::exchange(news_until_failure, never_fails);
                std::filesystem::path self = "/proc/self/exe";
                news_until_failure = armed;
                return self;
              }();
              Storage::map_file(path);
              ++mappings;
            }),
            2);
  EXPECT_EQ(mappings, 1);
}

TEST(FailureInjection, device_memory_fails_cleanly_at_every_allocation) {
  FailingAllocator allocator(Device(1, 0));
  EXPECT_EQ(fail_each_new([&] { Buffer::allocate(64, allocator); }) > 0, true);
  EXPECT_EQ(allocator.blocks_out(), 0U);
  const std::ptrdiff_t alive_before = news_alive;
  allocator.fail_allocation(0);
  EXPECT_THROW(Buffer::allocate(64, allocator), OutOfMemory);
  EXPECT_EQ(news_alive, alive_before);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

/// A write that cannot get its memory, or whose copy fails, leaves both sides as they were.
class FailingWrite : public testing::TestWithParam<Wait> {};

TEST_P(FailingWrite, that_finds_no_memory_changes_nothing) {
  FailingAllocator allocator;
  Storage storage = of_text("cow", allocator);
  const Storage clone = storage.lazy_clone();
  allocator.fail_allocation(0);
  EXPECT_THROW(storage.mutable_data(GetParam()), OutOfMemory);
  EXPECT_EQ(text_of(storage), "cow");
  EXPECT_TRUE(storage.shares_data_with(clone));
  EXPECT_EQ(storage.use_count(), 2U);
  EXPECT_EQ(storage.materialize(GetParam()), Materialized::copied);  // and works the next time
  EXPECT_EQ(text_of(clone), "cow");
}

TEST_P(FailingWrite, whose_copy_throws_passes_the_exception_on_and_changes_nothing) {
  FailingAllocator allocator;
  Storage storage = of_text("cow", allocator);
  const Storage clone = storage.lazy_clone();
  allocator.fail_copy(0);
  EXPECT_THROW(storage.mutable_data(GetParam()), FailingAllocator::CopyFailed);
  EXPECT_EQ(allocator.blocks_out(), 1U);
  EXPECT_EQ(text_of(storage), "cow");
  EXPECT_TRUE(storage.shares_data_with(clone));
  EXPECT_EQ(storage.materialize(GetParam()), Materialized::copied);
}

TEST_P(FailingWrite, whose_other_owner_left_meanwhile_keeps_the_data_the_next_time) {
  FailingAllocator allocator;
  Storage storage = of_text("cow", allocator);
  {
    const Storage clone = storage.lazy_clone();
    allocator.fail_copy(0);
    EXPECT_THROW(storage.mutable_data(GetParam()), FailingAllocator::CopyFailed);
  }
  EXPECT_EQ(storage.materialize(GetParam()), Materialized::already_unique);
}

INSTANTIATE_TEST_SUITE_P(WaitingOrNot, FailingWrite, testing::Values(Wait::allowed, Wait::never));

TEST(FailureInjection, a_resize_that_fails_keeps_size_and_bytes) {
  FailingAllocator allocator;
  Storage storage = of_text("cow", allocator);
  allocator.fail_allocation(0);
  EXPECT_THROW(storage.resize(1000), OutOfMemory);
  EXPECT_EQ(text_of(storage), "cow");
  allocator.fail_copy(0);
  EXPECT_THROW(storage.resize(1000), FailingAllocator::CopyFailed);
  EXPECT_EQ(text_of(storage), "cow");
  EXPECT_EQ(allocator.blocks_out(), 1U);
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
  Storage storage = of_text("cow", allocator);
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
