// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <byre/byre.hpp>

#include "../faults/failing_allocator.hpp"
#include "../faults/injector.hpp"
#include "../faults/throwing_sink.hpp"
#include "../faults/truncated_file.hpp"

namespace byre::stress {
namespace {

struct FaultsTest : testing::Test {
  Injector injector{{}, 1};
  FailingAllocator allocator{aligned_allocator(), 4096};
};

TEST_F(FaultsTest, only_the_chosen_allocation_fails) {
  injector.arm(Fault::allocation, 1);
  const Buffer first = Buffer::allocate(10, allocator);
  EXPECT_THROW(Buffer::allocate(10, allocator), OutOfMemory);
  const Buffer third = Buffer::allocate(10, allocator);
  EXPECT_EQ(injector.counts().total().injected, 1u);
}

TEST(Faults, the_nth_allocation_of_a_thread_fails) {
  FailingAllocator allocator(aligned_allocator(), 0);
  Injector injector({.allocation_at = 3}, 1);
  for (int call = 1; call <= 6; ++call) {
    injector.arm(std::nullopt, 0);
    if (call == 3) {
      EXPECT_THROW(Buffer::allocate(10, allocator), OutOfMemory);
      EXPECT_EQ(injector.to_throw(), Fault::allocation);
    } else {
      const Buffer fine = Buffer::allocate(10, allocator);
      EXPECT_FALSE(injector.has_fired()) << call;
    }
  }
}

TEST_F(FaultsTest, survival_is_counted_per_operation) {
  injector.arm(Fault::allocation, 0);
  EXPECT_THROW(Buffer::allocate(10, allocator), OutOfMemory);
  injector.arm(Fault::allocation, 0);
  EXPECT_THROW(Buffer::allocate(10, allocator), OutOfMemory);
  injector.record_survival();
  EXPECT_EQ(injector.counts()[Fault::allocation].injected, 2u);
  EXPECT_EQ(injector.counts()[Fault::allocation].survived, 1u);
}

TEST_F(FaultsTest, a_copy_fails_half_way) {
  Buffer buffer = Buffer::allocate(10, allocator);
  const Buffer clone = buffer;
  injector.arm(Fault::copy, 0);
  EXPECT_THROW(buffer.materialize(), CopyFailed);
  EXPECT_TRUE(buffer.shares_data_with(clone));
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
}

TEST_F(FaultsTest, memory_over_the_budget_is_refused) {
  {
    const Buffer most = Buffer::allocate(4000, allocator);
    EXPECT_THROW(Buffer::allocate(100, allocator), OutOfMemory);
  }
  const Buffer again = Buffer::allocate(4000, allocator);
  EXPECT_EQ(injector.counts()[Fault::budget].injected, 1u);
}

TEST_F(FaultsTest, operator_new_fails_where_it_can_be_made_to) {
  if (!can_fail_heap()) {
    GTEST_SKIP() << "operator new is a sanitizer's in this build";
  }
  const Storage storage = Storage::allocate(10, allocator);
  injector.arm(Fault::heap, 0);
  EXPECT_THROW((void)storage.lazy_clone(), OutOfMemory);
  injector.disarm();
  EXPECT_EQ(injector.counts()[Fault::heap].injected, 1u);
  EXPECT_EQ(storage.use_count(), 1u);
}

TEST_F(FaultsTest, a_thread_without_an_injector_has_no_faults) {
  const Injector* const mine = Injector::current();
  EXPECT_EQ(mine, &injector);
  std::thread([] { EXPECT_EQ(Injector::current(), nullptr); }).join();
}

TEST(ThrowingSink, each_throw_is_a_warning) {
  if (BYRE_STATS == 0) {
    GTEST_SKIP() << "no sink is called in this build";
  }
  Injector injector({.sink = 1}, 1);
  const ThrowingSink sink(true);
  Buffer buffer = Buffer::allocate(10);
  const Buffer clone = buffer;
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  Failures failures;
  sink.check(1, failures);
  EXPECT_FALSE(failures.any());
  sink.check(2, failures);
  EXPECT_TRUE(failures.any());
}

TEST(TruncatedFiles, are_survived_as_far_as_they_can_be) {
  FaultCount count;
  EXPECT_TRUE(survive_truncated_files(count).empty());
  EXPECT_EQ(count.injected, 3u);
  EXPECT_EQ(count.survived, 3u);
}

}  // namespace
}  // namespace byre::stress
