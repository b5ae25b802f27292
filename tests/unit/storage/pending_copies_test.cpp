// SPDX-License-Identifier: BSL-1.0
// PendingCopy, by which an allocator ends a copy that it submitted; and the rule that only
// allocators of device memory may defer copies.
#include <byre/memory/allocator.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace byre::test {
namespace {

TEST(PendingCopies, end_exactly_once) {
  int ends = 0;
  const auto count = [](void* counted) noexcept { ++*static_cast<int*>(counted); };
  {
    PendingCopy first(&ends, count);
    PendingCopy second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT: tests the moved-from state
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
  EXPECT_EQ(others, 1) << "an assignment must end the replaced copy";
  EXPECT_EQ(ends, 2);
  assigned.end();
  EXPECT_EQ(ends, 3) << "the destructor must end the assigned copy";
  EXPECT_EQ(others, 1);
}

TEST(SubmittedCopiesDeathTest, only_device_allocators_may_defer_copies) {
  struct OfTheHost final : Allocator {
    OfTheHost() : Allocator(Device::cpu(), CopiesEnd::in_order) {}
    Block allocate(const Request&) override { return {}; }
    void deallocate(const Block&) noexcept override {}
    const char* name() const noexcept override { return "host"; }
  };
  EXPECT_DEATH(OfTheHost(), "an allocator of host memory requires CopiesEnd::on_return");
}

}  // namespace
}  // namespace byre::test
