// SPDX-License-Identifier: BSL-1.0
// The end of a copy that an allocator submitted, and which allocators may submit copies.
#include <byre/memory/allocator.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace byre::test {
namespace {

TEST(PendingCopies, are_ended_once) {
  int ends = 0;
  const auto count = [](void* counted) noexcept { ++*static_cast<int*>(counted); };
  {
    PendingCopy first(&ends, count);
    PendingCopy second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT: what is moved from has none
    EXPECT_TRUE(second);
    EXPECT_EQ(ends, 0);
    second.end();
    EXPECT_EQ(ends, 1);
    second.end();
  }
  EXPECT_EQ(ends, 1);
  { const PendingCopy dropped(&ends, count); }
  EXPECT_EQ(ends, 2);
  PendingCopy forgotten(&ends, count);
  forgotten.forget();
  EXPECT_FALSE(forgotten);
  int others = 0;
  PendingCopy assigned(&others, count);
  assigned = PendingCopy(&ends, count);
  EXPECT_EQ(others, 1) << "what it was is ended";
  EXPECT_EQ(ends, 2);
  assigned.end();
  EXPECT_EQ(ends, 3) << "and then what it became";
  EXPECT_EQ(others, 1);
}

TEST(SubmittedCopiesDeathTest, are_not_of_memory_that_the_host_addresses) {
  struct OfTheHost final : Allocator {
    OfTheHost() : Allocator(Device::cpu(), CopiesEnd::in_order) {}
    Block allocate(const Request&) override { return {}; }
    void deallocate(const Block&) noexcept override {}
    const char* name() const noexcept override { return "host"; }
  };
  EXPECT_DEATH(OfTheHost(), "copies of memory that the host addresses have to end on return");
}

}  // namespace
}  // namespace byre::test
